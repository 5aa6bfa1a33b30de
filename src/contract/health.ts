import { z } from 'zod'
import { opTarget } from './op.ts'

/** What came of a probe the last times. */
const probeHealth = z.strictObject({
  component: z.string(),
  probe: z.string(),
  scope: z.enum(['local', 'remote']),
  /**
   * `failing` as often in a row as the probe counts; `shaky` less often than that; `unknown` while nobody could ask, which
   * is no failure.
   */
  state: z.enum(['well', 'shaky', 'failing', 'unknown']),
  /** Since when it is in this state. */
  since: z.iso.datetime(),
  /** What was seen, for people. */
  seen: z.string().optional(),
  /** Of the catalogue of findings, where what was seen has one of its own. */
  code: z.string().optional(),
})
export type ProbeHealth = z.infer<typeof probeHealth>

/** Something of the plan that is not as it was put there, and cannot be put back without an operator. */
const drift = z.strictObject({ target: opTarget, name: z.string(), what: z.string() })
export type Drift = z.infer<typeof drift>

/** How far the agent has come with a component. */
const componentHealth = z.strictObject({
  component: z.string(),
  /**
   * `healing`: something was done, and it is waited for what comes of it. `held`: it is not well and nothing is done, for the
   * reason that `because` says. `given-up`: all was tried; a person is needed.
   */
  state: z.enum(['well', 'unwell', 'healing', 'held', 'given-up']),
  since: z.iso.datetime(),
  because: z.string().optional(),
  code: z.string().optional(),
  /** What the supervisor says of its service, where it has one. */
  service: z
    .strictObject({
      name: z.string(),
      active: z.string(),
      sub: z.string(),
      /** How often the supervisor has started it again by itself. */
      restarts: z.int(),
      enabled: z.boolean(),
    })
    .optional(),
  drift: z.array(drift),
})
export type ComponentHealth = z.infer<typeof componentHealth>

/** What an agent did, or would not do, and why. */
export const healAction = z.strictObject({
  at: z.iso.datetime(),
  component: z.string(),
  /**
   * `restart` the service; `rebuild` what is derived; `put-back` the plan's files; `capture-logs`; `give-up`; `refuse` what
   * would risk data; `recovered`: it is well again.
   */
  action: z.enum(['restart', 'rebuild', 'put-back', 'capture-logs', 'give-up', 'refuse', 'recovered']),
  because: z.string(),
  code: z.string().optional(),
  outcome: z.enum(['done', 'failed']),
  /** What was captured, changed, or went wrong. */
  details: z.array(z.string()),
})
export type HealAction = z.infer<typeof healAction>

export const healPause = z.strictObject({ until: z.iso.datetime(), by: z.string() })
export type HealPause = z.infer<typeof healPause>

/** In milliseconds: who forgets that healing is paused is not to find out by a dead cluster. */
export const longestPause = 24 * 3_600_000

/** How a host is, as its agent sees it. */
export const hostHealth = z.strictObject({
  at: z.iso.datetime(),
  /** None: nobody has taken the host through a plan, and there is nothing to look at. */
  plan: z.string().optional(),
  ladder: z.enum(['usual', 'seed']),
  paused: healPause.optional(),
  /** Why nothing is done at present, whatever is found: an operator is at work, a restore is under way. */
  idle: z.string().optional(),
  /** Actions of late that disturb, and how many there may be in so many milliseconds. */
  budget: z.strictObject({ spent: z.int(), most: z.int(), within: z.int() }),
  components: z.array(componentHealth),
  probes: z.array(probeHealth),
  /** The last ones, the newest first. */
  actions: z.array(healAction),
})
export type HostHealth = z.infer<typeof hostHealth>
