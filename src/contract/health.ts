import { z } from 'zod'
import { opTarget } from './op.ts'
import type { Format } from './versioned.ts'

/**
 * All health values of probes, components, hosts and clusters. Each schema allows only the values that apply
 * to it.
 */
export const healthValue = z.enum([
  'healthy',
  'degraded',
  'unhealthy',
  'unknown',
  'healing',
  'blocked',
  'exhausted',
])

/** Health of a component, including the progress of its healing. */
export const componentHealthValue = healthValue.extract([
  'healthy',
  'unhealthy',
  'healing',
  'blocked',
  'exhausted',
])

/** Health according to the latest runs of one probe. */
const probeHealth = z.strictObject({
  component: z.string(),
  probe: z.string(),
  scope: z.enum(['local', 'remote']),
  /**
   * `degraded`: fewer consecutive failures than the failure threshold. `unhealthy`: the threshold is reached.
   * `unknown`: the probe could not run, which does not count as a failure.
   */
  state: healthValue.extract(['healthy', 'degraded', 'unhealthy', 'unknown']),
  /** When the probe entered the current state. */
  since: z.iso.datetime(),
  /** What the probe observed, as text for people. */
  message: z.string().optional(),
  /** Code of the finding that describes the observation; absent if there is no such finding. */
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
   * `healing`: an action was taken and its effect is awaited. `blocked`: unhealthy, but healing does nothing
   * for the reason in `because`. `exhausted`: all steps were tried and a person is needed.
   */
  state: componentHealthValue,
  since: z.iso.datetime(),
  because: z.string().optional(),
  code: z.string().optional(),
  /** State of the component's service according to the supervisor. */
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

/** An action that healing took or refused, with the reason. */
export const healAction = z.strictObject({
  at: z.iso.datetime(),
  component: z.string(),
  /**
   * `restart`: restart the service. `regenerate`: create derived resources again. `repair`: restore resources
   * that drifted from the plan. `capture-logs`: save recent logs. The other values change nothing. `give-up`:
   * all steps were tried. `refuse`: healing must not act, for the reason in `because`. `recovered`: the
   * component is healthy again.
   */
  action: z.enum(['restart', 'regenerate', 'repair', 'capture-logs', 'give-up', 'refuse', 'recovered']),
  because: z.string(),
  code: z.string().optional(),
  outcome: z.enum(['done', 'failed']),
  /** What was captured or changed, or what failed. */
  details: z.array(z.string()),
})
export type HealAction = z.infer<typeof healAction>

export const healPause = z.strictObject({ until: z.iso.datetime(), by: z.string() })
export type HealPause = z.infer<typeof healPause>

/** Maximum length of a pause, so that healing resumes even if an operator forgets the pause. */
export const maxHealPauseMs = 24 * 3_600_000

/** Health of a host as its agent sees it. */
export const hostHealth = z.strictObject({
  at: z.iso.datetime(),
  /** Digest of the applied plan; absent if no plan has been applied yet. */
  plan: z.string().optional(),
  healPolicy: z.enum(['default', 'legacy-script']),
  paused: healPause.optional(),
  /** Why healing is suspended, for example because an operator is working or a restore is running. */
  suspended: z.string().optional(),
  /**
   * Number of recent disruptive actions (`used`), and how many are allowed (`max`) in a time window. On
   * Windows `used` counts healing rounds of one component without success. After `max` rounds, healing pauses
   * for `windowMs`.
   */
  budget: z.strictObject({ used: z.int(), max: z.int(), windowMs: z.int() }),
  components: z.array(componentHealth),
  probes: z.array(probeHealth),
  /** Recent healing actions, newest first. */
  actions: z.array(healAction),
})
export type HostHealth = z.infer<typeof hostHealth>

/**
 * Healing progress of an unhealthy service. The agent deletes it after the service has been healthy for a
 * while.
 */
const escalation = z.strictObject({
  /** When the service became unhealthy. */
  since: z.iso.datetime(),
  /** Number of healing steps taken so far; on Windows the number of healing rounds without success. */
  step: z.int().min(0),
  /** Time of the last healing step. */
  lastStepAt: z.iso.datetime().optional(),
  exhausted: z.boolean(),
  /** When the service became healthy again. */
  recoveredAt: z.iso.datetime().optional(),
})

const stateSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('HealState'),
  paused: healPause.optional(),
  /** Digest of the applied plan. The escalations are reset when the plan changes. */
  plan: z.string().optional(),
  /** Escalation of each unhealthy component (key: component name). */
  escalations: z.record(z.string(), escalation),
  /** Times of recent disruptive actions, such as restarts. */
  disruptions: z.array(z.iso.datetime()),
  /** Recent healing actions, newest first. */
  actions: z.array(healAction),
})

/**
 * Healing state that survives a restart of the agent. Without it an agent that crashes would repeat the same
 * healing steps forever.
 */
export type HealState = z.infer<typeof stateSchema>

export const healStateFormat: Format<HealState> = {
  kind: 'HealState',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: stateSchema },
  older: [],
}
