/**
 * How many groups of webhooks are applied at once. Each uses one connection at a time, and the pool for webhooks has as
 * many connections. The number has a file of its own, so that a command opens the pools without loading the intake (20
 * ms of CPU). src/subjects/messages/README.md has the rule.
 */
export const WEBHOOK_LANES = 2;
