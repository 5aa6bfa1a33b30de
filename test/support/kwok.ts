import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { cacheDirectory } from '../../lab/cache.ts'
import type { Credentials } from '../../lab/cluster/kube-api.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { selectParts } from '../../lab/components/parts.ts'
import { silentReport } from '../../lab/report.ts'

/** Label of the nodes that kwok manages. */
export const kwokLabel = { 'hyperkube.dev/lab': 'kwok' } as const

/**
 * Duration of node leases in seconds. kwok renews a lease after a quarter of this time. This is less often
 * than kubelets do, to save CPU, but keeps nodes Ready.
 */
const leaseDuration = 120

/** A running kwok, which simulates kubelets: it reports nodes as ready and pods as running. */
export interface Kwok extends AsyncDisposable {
  readonly version: string
  /** Returns why kwok exited, with its last log lines; undefined while kwok runs. */
  readFailure(): Promise<string | undefined>
}

export interface KwokOptions {
  readonly server: string
  readonly credentials: Credentials
  /** Directory for the files of kwok. They are not deleted. */
  readonly directory: string
}

export async function startKwok({ server, credentials, directory }: KwokOptions): Promise<Kwok> {
  const [built] = await buildComponents(selectParts(['kwok']), {
    cache: cacheDirectory(),
    report: silentReport,
  })
  if (built === undefined) throw new Error('there is no kwok')
  const [kubeconfig, config, log] = ['kwok.kubeconfig', 'kwok.yaml', 'kwok.log'].map((name) =>
    join(directory, name),
  )
  if (kubeconfig === undefined || config === undefined || log === undefined) throw new Error('three names')
  await writeFile(kubeconfig, formatKubeconfig(server, credentials), { mode: 0o600 })
  await writeFile(config, kwokStages.map((stage) => stringify(stage)).join('---\n'))
  await using output = await open(log, 'w')
  const child = spawn(
    join(built.directory, 'kwok'),
    [
      `--kubeconfig=${kubeconfig}`,
      `--config=${config}`,
      '--manage-all-nodes=false',
      `--manage-nodes-with-label-selector=${Object.entries(kwokLabel).flat().join('=')}`,
      `--node-lease-duration-seconds=${leaseDuration}`,
    ],
    { stdio: ['ignore', output.fd, output.fd], env: { HOME: directory } },
  )
  const ended = once(child, 'close')
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  return {
    version: built.part.version,
    async readFailure() {
      if (!hasEnded()) return undefined
      return `kwok ended with ${child.exitCode}: ${(await readFile(log, 'utf8')).slice(-1000)}`
    },
    async [Symbol.asyncDispose]() {
      if (!hasEnded()) child.kill('SIGKILL')
      await ended
    },
  }
}

function formatKubeconfig(server: string, { ca, certificate, key }: Credentials): string {
  const data = (text: string): string => Buffer.from(text).toString('base64')
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'kwok',
    contexts: [{ name: 'kwok', context: { cluster: 'lab', user: 'kwok' } }],
    clusters: [{ name: 'lab', cluster: { server, 'certificate-authority-data': data(ca) } }],
    users: [
      {
        name: 'kwok',
        user: { 'client-certificate-data': data(certificate), 'client-key-data': data(key) },
      },
    ],
  })
}

const readiness = '.status.conditions.[] | select( .type == "Ready" ) | .status'

const nodeConditions = `conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ Now | Quote }}
  lastTransitionTime: {{ $.metadata.creationTimestamp | Quote }}
{{ end }}
`

/** Stages of nodes and pods, like kwok's fast stages but without fields that controllers do not read. */
const kwokStages: readonly object[] = [
  buildStage('node-initialize', 'Node', {
    selector: [{ key: readiness, operator: 'NotIn', values: ['True'] }],
    status: `${nodeConditions}phase: Running\n`,
  }),
  // The delay is similar to the interval at which kubelets write an unchanged status.
  buildStage('node-heartbeat', 'Node', {
    selector: [
      { key: '.status.phase', operator: 'In', values: ['Running'] },
      { key: readiness, operator: 'In', values: ['True'] },
    ],
    delay: { durationMilliseconds: 300_000, jitterDurationMilliseconds: 360_000 },
    status: nodeConditions,
  }),
  buildStage('pod-ready', 'Pod', {
    selector: [
      { key: '.metadata.deletionTimestamp', operator: 'DoesNotExist' },
      { key: '.status.phase', operator: 'In', values: ['Pending'] },
    ],
    status: `{{ $now := Now }}
conditions:
{{ range $type := (list "Initialized" "Ready" "ContainersReady") }}
- type: {{ $type | Quote }}
  status: "True"
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  name: {{ .name | Quote }}
  ready: true
  restartCount: 0
  state:
    running:
      startedAt: {{ $now | Quote }}
{{ end }}
phase: Running
startTime: {{ $now | Quote }}
`,
  }),
]

interface Expression {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values?: readonly string[]
}

interface StageSpec {
  readonly selector: readonly Expression[]
  /** Status of the object, as a kwok template. */
  readonly status: string
  readonly delay?: { readonly durationMilliseconds: number; readonly jitterDurationMilliseconds: number }
}

function buildStage(name: string, kind: string, { selector, status, delay }: StageSpec): object {
  return {
    apiVersion: 'kwok.x-k8s.io/v1alpha1',
    kind: 'Stage',
    metadata: { name },
    spec: {
      resourceRef: { apiGroup: 'v1', kind },
      selector: { matchExpressions: selector },
      ...(delay === undefined ? {} : { delay }),
      next: { statusTemplate: status },
    },
  }
}
