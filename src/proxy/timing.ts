/** All in milliseconds. */
export interface Timing {
  /** How often the loop looks whether something is due. */
  readonly tick: number
  /** How often a server is asked whether it is ready, and how long it may think about it. */
  readonly askEvery: number
  readonly askWithin: number
  /** The same in a hurry: after a first failure, or while a server owes an answer for as long. */
  readonly hurryEvery: number
  readonly hurryWithin: number
  /** A server that came back is second choice for so long: it may go again. */
  readonly settle: number
  /** A connection on which the server has said the last word, so long ago, has hardly anything in flight. */
  readonly calm: number
  /** Clients are sent away from a server over so long, not all at once. */
  readonly spread: number
  /** After so long of not being ready, also those that are never calm. */
  readonly unreadyGrace: number
  /** How long a server may take to accept a connection. */
  readonly dialWithin: number
  /** When another server is tried beside one that has not accepted yet, and another look begins beside one without an answer. */
  readonly doubtAfter: number
  /** How often the list of servers is read from the API, and how often our own files. */
  readonly learnEvery: number
  readonly reloadEvery: number
  /** How long connections may take to end when we are told to stop, and what is calm enough then. */
  readonly stopWithin: number
  readonly stopCalm: number
}

export const usualTiming: Timing = {
  tick: 100,
  askEvery: 1000,
  askWithin: 1000,
  hurryEvery: 100,
  hurryWithin: 800,
  settle: 5000,
  calm: 3000,
  spread: 8000,
  unreadyGrace: 10_000,
  dialWithin: 1000,
  doubtAfter: 300,
  learnEvery: 30_000,
  reloadEvery: 2000,
  stopWithin: 5000,
  stopCalm: 500,
}
