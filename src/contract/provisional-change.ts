import { z } from 'zod'

/** A change that a host goes back from by itself, unless somebody keeps it. */
export const trial = z.strictObject({
  /** The same on all hosts that try it. */
  id: z.uuid(),
  /** The digest of the plan that is tried. */
  plan: z.string().regex(/^[0-9a-f]{64}$/),
  /** By the clock of the host. */
  deadline: z.iso.datetime(),
  /** How long after it this host goes back, in milliseconds: one host after the other. */
  slot: z.int().min(0),
})
export type Trial = z.infer<typeof trial>

/** How it is with a trial on a host. One that was kept is not known any more. */
export const hostTrial = z.discriminatedUnion('state', [
  z.strictObject({ ...trial.shape, state: z.literal('on-trial') }),
  z.strictObject({ ...trial.shape, state: z.literal('went-back'), at: z.iso.datetime() }),
])
export type HostTrial = z.infer<typeof hostTrial>

/** None is longer, in milliseconds. */
export const longestTrial = 24 * 3_600_000
