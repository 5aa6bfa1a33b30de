import {
  singleStep,
  hostEnds,
  transfers,
  opStarts,
  opEnds,
  createOpFixture,
  type StepFixture,
  stepsPlanned,
  runStarted,
  stepStarts,
  stepEnds,
  type RecordedEvent,
  waits,
} from './fixtures.ts'

const threeHosts = ['cp1', 'w1', 'w2']
const steps = {
  prepare: {
    step: 'prepare/cp1+2',
    title: 'preparation on cp1, w1 and w2',
    stage: 'prepare',
    hosts: threeHosts,
  },
  etcd: { step: 'etcd/cp1', title: 'etcd on cp1', stage: 'etcd', hosts: ['cp1'] },
  api: { step: 'api/cp1', title: 'API server on cp1', stage: 'api', hosts: ['cp1'] },
  controllers: { step: 'controllers/cp1', title: 'controllers on cp1', stage: 'controllers', hosts: ['cp1'] },
  nodes: {
    step: 'network/cp1+2',
    title: 'kubelet and network on cp1, w1 and w2',
    stage: 'network',
    hosts: threeHosts,
  },
} as const satisfies Record<string, StepFixture>

const containerd = createOpFixture('containerd', 'create', 'artifact', 'containerd-2.2.1')
const config = createOpFixture('containerd', 'create', 'file', '/etc/hyperkube/containerd/config.toml')
const runtime = createOpFixture('containerd', 'start', 'service', 'containerd.service')
const etcd = createOpFixture('etcd', 'start', 'service', 'etcd.service')

/** The command connects to hosts, one of which is slow. */
export const connectingRun: readonly RecordedEvent[] = [
  runStarted,
  [
    0,
    {
      type: 'steps-planned',
      steps: [{ step: 'reach', title: 'reach cp1, w1 and w2', hosts: [...threeHosts] }],
    },
  ],
  [0, { type: 'step-started', step: 'reach' }],
  ...threeHosts.map((host) => waits(0, 'its ssh server to answer', 0, host)),
  [0.4, { type: 'step-started', step: 'reach' }, 'cp1'],
  [0.5, { type: 'step-started', step: 'reach' }, 'w1'],
  transfers(1, 'cp1', 'hyperkube-agent', 12, 54),
  transfers(1.2, 'w1', 'hyperkube-agent', 3, 54),
]

const confirmedRun: readonly RecordedEvent[] = [
  runStarted,
  ...singleStep(0, 4.2, 'reach', 'reach cp1, w1 and w2', threeHosts),
  ...singleStep(4.2, 5.1, 'observe', 'read the current state', threeHosts),
  ...singleStep(9, 10, 'certificates', 'certificates for cp1, w1 and w2', threeHosts),
  stepsPlanned(10, Object.values(steps)),
]

/** Hosts are downloading. */
export const downloadingRun: readonly RecordedEvent[] = [
  ...confirmedRun,
  ...stepStarts(10, steps.prepare),
  transfers(11, 'cp1', 'containerd', 31, 35),
  transfers(12, 'cp1', 'kubelet', 41, 118),
  transfers(12, 'w1', 'containerd', 8, 35),
  transfers(14, 'w2', 'kubelet', 117, 118),
]

/** One host is done, one waits for a service, one writes a file. */
export const preparingRun: readonly RecordedEvent[] = [
  ...downloadingRun,
  ...threeHosts.flatMap((host): RecordedEvent[] => [
    opStarts(20, host, containerd),
    opEnds(22, host, containerd),
  ]),
  opStarts(22, 'cp1', config),
  opEnds(22.1, 'cp1', config),
  opStarts(22.1, 'w1', config),
  opEnds(22.2, 'w1', config),
  opStarts(22.2, 'w1', runtime),
  waits(23, 'containerd.service to run (activating, start)', 22.2, 'w1', 'containerd'),
  waits(28, 'containerd.service to run (activating, start)', 22.2, 'w1', 'containerd'),
  opStarts(28, 'w2', config),
  hostEnds(29, steps.prepare, 'cp1'),
]

const preparedRun: readonly RecordedEvent[] = [
  ...preparingRun,
  opEnds(34, 'w1', runtime),
  opEnds(34, 'w2', config),
  hostEnds(34.5, steps.prepare, 'w1'),
  hostEnds(35, steps.prepare, 'w2'),
  stepEnds(35.2, steps.prepare),
  ...stepStarts(35.2, steps.etcd),
  opStarts(36, 'cp1', etcd),
]

/** The step waits, because the first etcd member does not respond yet. */
export const waitingRun: readonly RecordedEvent[] = [
  ...preparedRun,
  opEnds(37, 'cp1', etcd),
  hostEnds(37, steps.etcd, 'cp1'),
  waits(37, 'until etcd is healthy on cp1: cp1: connection refused', 37),
  waits(42, 'until etcd is healthy on cp1: cp1: connection refused', 37),
  waits(47, 'until etcd is healthy on cp1: cp1: connection refused', 37),
]

/** All steps succeed. */
export const succeededRun: readonly RecordedEvent[] = [
  ...waitingRun,
  stepEnds(49, steps.etcd),
  ...[steps.api, steps.controllers, steps.nodes].flatMap((step, index): RecordedEvent[] => [
    ...stepStarts(49 + index * 10, step),
    ...step.hosts.map((host) => hostEnds(55 + index * 10, step, host)),
    stepEnds(59 + index * 10, step),
  ]),
  [80, { type: 'run-ended', result: { outcome: 'done' } }],
]

const failure = {
  code: 'SERVICE_FAILED',
  message:
    'cp1/etcd: etcd.service does not start (failed; last exit: exit-code 1):\n  listen tcp 10.0.0.1:2380: bind: address already in use',
  hint: 'on the host: journalctl -u etcd.service -e',
}

/** A service does not start. */
export const failedRun: readonly RecordedEvent[] = [
  ...preparedRun,
  [
    48,
    {
      type: 'log',
      lines: [
        ...Array.from(
          { length: 18 },
          (_, line) => `{"level":"info","msg":"line ${line + 1} of what it said"}`,
        ),
        '{"level":"info","msg":"starting an etcd server"}',
        '{"level":"fatal","error":"listen tcp 10.0.0.1:2380: bind: address already in use"}',
        '\u001B[31mexit status 1\u001B[0m',
      ],
    },
    'cp1',
    'etcd',
  ],
  [48, { type: 'op-ended', op: etcd, result: { outcome: 'failed', failure } }, 'cp1', 'etcd'],
  [48.2, { type: 'step-ended', step: steps.etcd.step, result: { outcome: 'failed', failure } }, 'cp1'],
  [48.2, { type: 'step-ended', step: steps.etcd.step, result: { outcome: 'failed', failure } }],
  [48.4, { type: 'run-ended', result: { outcome: 'failed', failure } }],
]

/** The run is interrupted, and hosts finish their ops. */
export const interruptingRun: readonly RecordedEvent[] = [
  ...preparingRun,
  [30, { type: 'stopping', because: 'interrupted' }],
]

export const interruptedRun: readonly RecordedEvent[] = [
  ...interruptingRun,
  opEnds(34, 'w1', runtime),
  opEnds(34, 'w2', config),
  hostEnds(34.5, steps.prepare, 'w1'),
  hostEnds(35, steps.prepare, 'w2'),
  stepEnds(35.2, steps.prepare),
  [35.3, { type: 'run-ended', result: { outcome: 'interrupted' } }],
]

const names = Array.from({ length: 500 }, (_, index) => `w${index + 1}`)
const fleet: StepFixture = {
  step: 'prepare/w1+499',
  title: 'preparation on 500 hosts (w1, w2 and 498 more)',
  stage: 'prepare',
  hosts: names,
}
/** Steps for one host each, as when kubelets are updated in a running cluster. */
const singles = names.map((host): StepFixture => ({
  step: `node/${host}`,
  title: `kubelet on ${host}, drained first`,
  stage: 'node',
  hosts: [host],
}))

/** 500 hosts: some are done, one has failed, some are slow. */
export const largeRun: readonly RecordedEvent[] = [
  runStarted,
  stepsPlanned(0, [fleet, ...singles]),
  ...stepStarts(0, fleet),
  ...names.flatMap((host, index): RecordedEvent[] => {
    if (index % 7 === 3) return [transfers(5, host, 'kubelet', 5 + (index % 50), 118)]
    return [
      opStarts(6, host, containerd),
      opEnds(7 + (index % 5), host, containerd),
      ...(index % 3 === 0 ? [hostEnds(20, fleet, host)] : [opStarts(12 + (index % 5), host, config)]),
    ]
  }),
  [
    25,
    {
      type: 'step-ended',
      step: fleet.step,
      result: {
        outcome: 'failed',
        failure: { code: 'APPLY_DISK_FULL', message: 'the disk is full' },
      },
    },
    'w77',
  ],
  waits(30, 'containerd.service to run (activating, start)', 12, 'w12', 'containerd'),
]

/** A cluster of 500 hosts after 120 steps that changed one host each. */
export const rollingRun: readonly RecordedEvent[] = [
  runStarted,
  stepsPlanned(0, singles),
  ...singles
    .slice(0, 120)
    .flatMap((step, index): RecordedEvent[] => [
      ...stepStarts(index * 10, step),
      ...step.hosts.map((host) => hostEnds(index * 10 + 8, step, host)),
      stepEnds(index * 10 + 9, step),
    ]),
  ...stepStarts(1200, { ...fleet, ...singles[120] }),
  waits(1201, 'until node w121 is ready: w121: container runtime network not ready', 1201),
]
