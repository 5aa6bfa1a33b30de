/** Intervals and timeouts of the proxy, all in milliseconds. */
export interface ProxyTiming {
  /** Interval of the main loop. */
  readonly tick: number
  /** Interval and timeout of readiness probes. */
  readonly probeInterval: number
  readonly probeTimeout: number
  /** Timeout of probes of a server that responds slowly or not at all. */
  readonly maxProbeTimeout: number
  /**
   * Interval and timeout of urgent probes, which start after a first failure or while a response is overdue.
   */
  readonly urgentProbeInterval: number
  readonly urgentProbeTimeout: number
  /** How long a recovered server is tried only after other healthy servers, because it may fail again. */
  readonly settleTime: number
  /** If the server sent the last data at least this long ago, the connection counts as idle. */
  readonly idleAfter: number
  /** Connections are moved from a server at random times within this period, not all at once. */
  readonly drainSpread: number
  /** If a server is not ready for this long, its connections are cut even if they are never idle. */
  readonly unreadyGrace: number
  /**
   * When all servers refuse connections, new connections wait this long for one that is ready. Later they
   * fail at once, so that an operator sees an outage without a delay.
   */
  readonly restartTime: number
  /** Timeout of a connection attempt. */
  readonly dialTimeout: number
  /**
   * Delay before another server is tried in parallel with a slow one, and before a second probe while one is
   * pending.
   */
  readonly slowAfter: number
  /** Intervals of server discovery and of checks for a changed configuration. */
  readonly discoveryInterval: number
  readonly reloadInterval: number
  /**
   * `stopTimeout` is the time that connections have to end when the proxy stops. During the stop, a
   * connection counts as idle after `stopIdleAfter`.
   */
  readonly stopTimeout: number
  readonly stopIdleAfter: number
}

export const defaultProxyTiming: ProxyTiming = {
  tick: 100,
  probeInterval: 1000,
  probeTimeout: 1000,
  maxProbeTimeout: 4000,
  urgentProbeInterval: 100,
  urgentProbeTimeout: 800,
  settleTime: 5000,
  idleAfter: 3000,
  drainSpread: 8000,
  unreadyGrace: 10_000,
  restartTime: 15_000,
  dialTimeout: 1000,
  slowAfter: 300,
  discoveryInterval: 30_000,
  reloadInterval: 2000,
  stopTimeout: 5000,
  stopIdleAfter: 500,
}
