/** All in milliseconds. */
export interface ProxyTiming {
  /** Interval of the main loop. */
  readonly tick: number
  /** Interval and timeout of readiness probes. */
  readonly probeInterval: number
  readonly probeTimeout: number
  /** The same for urgent probes: after a first failure, or while a response is overdue. */
  readonly urgentProbeInterval: number
  readonly urgentProbeTimeout: number
  /** How long a recovered server is second choice, because it may fail again. */
  readonly settleTime: number
  /** A connection on which the server sent the last data so long ago has probably no request in flight. */
  readonly idleAfter: number
  /** Connections are moved away from a server over this time, not all at once. */
  readonly drainSpread: number
  /** After so long without being ready, connections that are never idle are cut, too. */
  readonly unreadyGrace: number
  /** Timeout of a connection attempt. */
  readonly dialTimeout: number
  /**
   * Delay before another server is tried beside a slow one, and before a second probe beside a pending one.
   */
  readonly slowAfter: number
  /** Intervals of server discovery and of configuration reloads. */
  readonly discoveryInterval: number
  readonly reloadInterval: number
  /** How long connections may take to end at a stop, and when a connection then counts as idle. */
  readonly stopTimeout: number
  readonly stopIdleAfter: number
}

export const defaultProxyTiming: ProxyTiming = {
  tick: 100,
  probeInterval: 1000,
  probeTimeout: 1000,
  urgentProbeInterval: 100,
  urgentProbeTimeout: 800,
  settleTime: 5000,
  idleAfter: 3000,
  drainSpread: 8000,
  unreadyGrace: 10_000,
  dialTimeout: 1000,
  slowAfter: 300,
  discoveryInterval: 30_000,
  reloadInterval: 2000,
  stopTimeout: 5000,
  stopIdleAfter: 500,
}
