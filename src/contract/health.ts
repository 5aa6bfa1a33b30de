import { z } from 'zod'
import { opTarget } from './op.ts'

/** Result of the latest attempts of a probe. */
const probeHealth = z.strictObject({
  component: z.string(),
  probe: z.string(),
  scope: z.enum(['local', 'remote']),
  /**
   * `failing`: the failure threshold was reached. `shaky`: fewer failures in a row. `unknown`: the probe
   * could not run, which is no failure.
   */
  state: z.enum(['healthy', 'degraded', 'unhealthy', 'unknown']),
  /** Start of the current state. */
  since: z.iso.datetime(),
  /** What the probe observed, for people. */
  message: z.string().optional(),
  /** Code from the catalog of findings, if the observation has one. */
  code: z.string().optional(),
})
export type ProbeHealth = z.infer<typeof probeHealth>

/** A resource that differs from the plan and cannot be repaired without an operator. */
const drift = z.strictObject({ target: opTarget, name: z.string(), difference: z.string() })
export type ResourceDrift = z.infer<typeof drift>

/** Health of a component and progress of its healing. */
const componentHealth = z.strictObject({
  component: z.string(),
  /**
   * `healing`: an action was taken and its effect is awaited. `held`: unhealthy, and nothing is done for the
   * reason in `because`. `given-up`: all steps were tried; a person is needed.
   */
  state: z.enum(['healthy', 'unhealthy', 'healing', 'blocked', 'exhausted']),
  since: z.iso.datetime(),
  because: z.string().optional(),
  code: z.string().optional(),
  /** State of its service according to the supervisor. */
  service: z
    .strictObject({
      name: z.string(),
      active: z.string(),
      sub: z.string(),
      /** Number of automatic restarts by the supervisor. */
      restarts: z.int(),
      enabled: z.boolean(),
    })
    .optional(),
  drift: z.array(drift),
})
export type ComponentHealth = z.infer<typeof componentHealth>

/** An action that an agent took or refused, and why. */
export const healAction = z.strictObject({
  at: z.iso.datetime(),
  component: z.string(),
  /**
   * `restart` the service; `regenerate` derived resources; `repair` the plan's files; `capture-logs`;
   * `give-up`; `refuse` an action that would risk data; `recovered`: the component is healthy again.
   */
  action: z.enum(['restart', 'regenerate', 'repair', 'capture-logs', 'give-up', 'refuse', 'recovered']),
  because: z.string(),
  code: z.string().optional(),
  outcome: z.enum(['done', 'failed']),
  /** What was captured, changed or failed. */
  details: z.array(z.string()),
})
export type HealAction = z.infer<typeof healAction>

export const healPause = z.strictObject({ until: z.iso.datetime(), by: z.string() })
export type HealPause = z.infer<typeof healPause>

/** Limits a forgotten pause, so that healing resumes before it is needed badly. */
export const maxHealPauseMs = 24 * 3_600_000

/** Health of a host as its agent sees it. */
export const hostHealth = z.strictObject({
  at: z.iso.datetime(),
  /** Absent if no plan was applied yet, so that there is nothing to check. */
  plan: z.string().optional(),
  healPolicy: z.enum(['usual', 'seed']),
  paused: healPause.optional(),
  /** Why healing does nothing at present: an operator is working, a restore is running. */
  suspended: z.string().optional(),
  /** Recent disruptive actions, and how many are allowed per time window. */
  budget: z.strictObject({ used: z.int(), max: z.int(), windowMs: z.int() }),
  components: z.array(componentHealth),
  probes: z.array(probeHealth),
  /** The latest actions, newest first. */
  actions: z.array(healAction),
})
export type HostHealth = z.infer<typeof hostHealth>
