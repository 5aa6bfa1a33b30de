import type { Guest } from './client-connection.ts'
import type { Dealings } from './probe-schedule.ts'
import { waitingSince } from './waiting.ts'
import { unknownUpstream, type Upstream } from './upstreams.ts'

/** One API server, what we think of it, and what we have to do with it. */
export class Server implements Dealings {
  readonly name: string
  upstream: Upstream
  retiredSince: number | undefined = undefined
  lastAsked: number | undefined = undefined
  asking = 0
  took = 0
  /** When the last look began that found it ready, and when we last tried it and thought of another; never is -Infinity. */
  answeredAt = -Infinity
  doubtedAt = -Infinity
  /** How often in a row it did not tell us, and whether we say who we are. */
  unclear = 0
  introduced = false
  readonly connections = new Set<Guest>()
  readonly totals = { connections: 0, misses: 0, ended: 0, cut: 0, sent: 0, received: 0 }

  constructor(name: string, now: number) {
    this.name = name
    this.upstream = unknownUpstream(now)
  }

  get waitingSince(): number | undefined {
    return waitingSince(this.connections, this.doubtedAt, this.answeredAt)
  }
}
