export interface ThreadTimes {
  readonly cpuMillis: number;
  readonly runDelayMillis: number;
}
export declare const threadTimes: () => ThreadTimes | undefined;
export declare const unstarvedMillis: () => number;
export declare const runDelayMillis: () => number | undefined;
export declare const running: (millis: number) => () => boolean;
