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
export const kwokStages: readonly object[] = [
  buildStage('node-initialize', 'Node', {
    selector: [{ key: readiness, operator: 'NotIn', values: ['True'] }],
    status: `${nodeConditions}phase: Running\n`,
  }),
  // The delay is about the interval at which kubelets write an unchanged status.
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
