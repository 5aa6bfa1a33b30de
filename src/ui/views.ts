import { z } from 'zod'
import { findingSchema } from '../contract/finding.ts'
import { opSchema } from '../contract/op.ts'

/**
 * What the interface sends to the browser. These schemas select the fields of the documents that commands
 * print with `-o json`. Fields that they do not name are removed.
 */
const count = z.object({ healthy: z.number(), total: z.number() })
const health = z.object({
  healthy: z.boolean(),
  reason: z.string().optional(),
  unknown: z.boolean().optional(),
})

const overview = z.object({
  version: z.string(),
  /** True if plans can be applied. */
  allowsChanges: z.boolean().optional(),
  /** Name of the fleet; undefined if only one cluster is shown. */
  fleet: z.string().optional(),
  /** `file` is the path of cluster.yml, quoted for a shell. */
  clusters: z.array(z.object({ name: z.string(), file: z.string() })),
})
export type Overview = z.infer<typeof overview>

const fleet = z.object({
  fleet: z.string(),
  items: z.array(
    z.object({
      name: z.string(),
      labels: z.record(z.string(), z.string()),
      health: z.enum(['healthy', 'degraded', 'unhealthy', 'unknown']),
      summary: z
        .object({
          kubernetes: z.string(),
          hosts: count,
          nodes: count,
          api: count,
          etcd: count.extend({ quorum: z.boolean() }),
          expiry: z.object({ host: z.string(), component: z.string(), until: z.string() }).optional(),
        })
        .optional(),
      problems: z.array(z.string()),
    }),
  ),
})
export type FleetView = z.infer<typeof fleet>

const hostStatus = z.object({
  host: z.string(),
  os: z.string().optional(),
  unreachable: z.string().optional(),
  version: z.string().optional(),
  services: z.array(z.object({ name: z.string(), state: z.string(), restarts: z.number() })),
  etcd: health.optional(),
  api: health.optional(),
  node: health.extend({ version: z.string().optional(), cordoned: z.boolean().optional() }).optional(),
  agentError: z.string().optional(),
  unhealthy: z
    .array(z.object({ component: z.string(), state: z.string(), because: z.string().optional() }))
    .optional(),
})
export type HostView = z.infer<typeof hostStatus>

const status = z.object({
  cluster: z.string(),
  hosts: z.array(hostStatus),
  summary: z.object({
    kubernetes: z.string(),
    hosts: count,
    nodes: count,
    api: count,
    etcd: count.extend({ quorum: z.boolean(), leader: z.string().optional() }),
    expiry: z.object({ host: z.string(), component: z.string(), until: z.string() }).optional(),
    addons: z
      .array(z.object({ name: z.string(), ready: z.boolean(), reason: z.string().optional() }))
      .optional(),
    actions: z.array(
      z.object({
        host: z.string(),
        at: z.string(),
        component: z.string(),
        action: z.string(),
        because: z.string(),
        outcome: z.string(),
      }),
    ),
  }),
})
export type StatusView = z.infer<typeof status>

const doctor = z.object({
  cluster: z.string(),
  at: z.string(),
  healthy: z.boolean(),
  findings: z.array(
    z.object({
      code: z.string(),
      severity: z.enum(['error', 'warning']),
      what: z.string(),
      since: z.string().optional(),
      host: z.string().optional(),
      component: z.string().optional(),
      evidence: z.array(z.string()),
      command: z.string(),
      healing: z.object({ lastAction: z.string().optional(), nextAction: z.string() }).optional(),
      needsOperator: z.boolean(),
      causedBy: z.string().optional(),
      meaning: z.string(),
    }),
  ),
})
export type DoctorView = z.infer<typeof doctor>

const plan = z.object({
  cluster: z.string(),
  /** Digest of the plan; undefined if the interface only reads, or if the plan cannot be applied. */
  digest: z.string().optional(),
  findings: z.array(findingSchema),
  /** Hosts with changes. */
  hosts: z.array(
    z.object({
      host: z.string(),
      roles: z.array(z.string()),
      ops: z.array(opSchema),
      /** Changes inside files as a unified diff. Values of secrets are not part of it. */
      diff: z.string(),
    }),
  ),
  removedHosts: z.array(z.string()),
  steps: z.array(z.object({ title: z.string(), gates: z.array(z.string()) })),
  objects: z.array(z.string()),
  addons: z.string(),
})
export type PlanView = z.infer<typeof plan>

const etcd = z.object({
  cluster: z.string(),
  quorum: z.boolean(),
  members: z.array(
    z.object({
      name: z.string(),
      role: z.string(),
      ready: z.boolean(),
      reason: z.string().optional(),
      version: z.string().optional(),
      size: z.number().optional(),
      sizeInUse: z.number().optional(),
      quota: z.number().optional(),
    }),
  ),
  findings: z.array(findingSchema),
})
export type EtcdView = z.infer<typeof etcd>

const certificates = z.object({
  cluster: z.string(),
  certificates: z.array(
    z.object({
      host: z.string(),
      component: z.string(),
      file: z.string(),
      ca: z.string(),
      state: z.enum(['good', 'due', 'expired', 'missing']),
      from: z.string().optional(),
      until: z.string().optional(),
      due: z.string().optional(),
    }),
  ),
  cas: z.array(
    z.object({
      ca: z.string(),
      use: z.string(),
      phase: z.string().optional(),
      from: z.string(),
      until: z.string(),
    }),
  ),
  unreachable: z.array(z.object({ host: z.string(), reason: z.string() })),
})
export type CertificatesView = z.infer<typeof certificates>

const runs = z.object({
  items: z.array(
    z.object({
      name: z.string(),
      command: z.string(),
      started: z.string(),
      seconds: z.number(),
      outcome: z.string().optional(),
    }),
  ),
})
export type RunsView = z.infer<typeof runs>

const run = z.object({
  run: z.string(),
  command: z.string(),
  started: z.string(),
  lastEvent: z.string(),
  /** Undefined if no end is recorded: the command is running, or its process was killed. */
  outcome: z.string().optional(),
  hosts: z.array(
    z.object({
      host: z.string(),
      steps: z.array(
        z.object({
          title: z.string(),
          started: z.string(),
          /** Time of the last event of the run if the step has not ended. */
          ended: z.string(),
          outcome: z.enum(['done', 'unchanged', 'failed', 'interrupted', 'not ended']),
        }),
      ),
    }),
  ),
  /** What steps that have not ended wait for. */
  waits: z.array(z.object({ host: z.string(), for: z.string(), since: z.string() })),
  failures: z.array(z.object({ host: z.string(), text: z.string(), hint: z.string().optional() })),
})
export type RunView = z.infer<typeof run>

const logs = z.object({
  /** Components that the page offers. */
  components: z.array(z.string()),
  /** The newest lines, the oldest first. */
  lines: z.array(
    z.object({
      time: z.string(),
      host: z.string(),
      component: z.string(),
      priority: z.number(),
      message: z.string(),
    }),
  ),
  /** True if there were more lines than the view has. */
  isCut: z.boolean(),
  /** Hosts whose logs could not be read. */
  problems: z.string(),
})
export type LogsView = z.infer<typeof logs>

/** Durations that the page of logs offers. */
export const logDurations = ['10m', '1h', '6h', '24h'] as const

/** What the page of logs searches, as the parameters of its path. */
export const logSearch = z.object({
  component: z.string().max(63).optional(),
  host: z.string().max(253).optional(),
  since: z.enum(logDurations).default('10m'),
  text: z.string().max(200).optional(),
})
export type LogSearch = z.infer<typeof logSearch>

/** Views of one cluster, by the last part of their path. */
export const clusterViews = { status, doctor, plan, etcd, certificates, runs, run, logs } as const
export type ClusterViewName = keyof typeof clusterViews

export const viewSchemas = { overview, fleet, ...clusterViews } as const
export type ViewName = keyof typeof viewSchemas

/** Documents by view, as the browser gets them. */
export type ViewDocuments = { readonly [name in ViewName]: z.infer<(typeof viewSchemas)[name]> }

export type ViewRequest =
  | { readonly view: 'overview' | 'fleet' }
  | { readonly view: Exclude<ClusterViewName, 'run' | 'logs'>; readonly cluster: string }
  | { readonly view: 'run'; readonly cluster: string; readonly run: string }
  | { readonly view: 'logs'; readonly cluster: string; readonly search: LogSearch }

/** What the browser sends to apply a plan. `confirm` is the name of the cluster, as the operator typed it. */
export const applyBody = z.object({ digest: z.string(), confirm: z.string() })

export interface PlanApplication extends z.infer<typeof applyBody> {
  readonly cluster: string
}

/** The run that applies a plan; undefined if its log could not be created. */
export interface AppliedPlan {
  readonly run?: string
}

/** The document of a view, or why it could not be read. */
export type ViewOutcome<T> =
  | { readonly state: 'read'; readonly document: T }
  | {
      readonly state: 'failed'
      readonly failure: { readonly code: string; readonly message: string; readonly hint?: string }
    }

/** What the server sends for a view, with the time at which it was read. */
export type ViewResult<T> = ViewOutcome<T> & { readonly at: string }
