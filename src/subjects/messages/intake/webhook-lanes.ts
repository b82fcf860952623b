/**
 * How many groups of webhooks are applied at once. Each uses one connection at a time: the pool of the webhooks has as
 * many. In a file of its own, so that a command opens the pools without loading the intake (20 ms of CPU).
 */
export const WEBHOOK_LANES = 2;
