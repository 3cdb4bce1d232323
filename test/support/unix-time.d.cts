export declare const unixTime: (time?: number) => number;
