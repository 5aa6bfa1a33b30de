import { type Pause, sleepOrAbort } from '../../kit/poll.ts'

export interface Clock {
  now(): Date
  readonly pause: Pause
}

export const systemClock: Clock = {
  now: () => new Date(),
  pause: sleepOrAbort,
}
