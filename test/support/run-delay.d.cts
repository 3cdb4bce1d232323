export declare const runDelayMillis: () => number | undefined;
