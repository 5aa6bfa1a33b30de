import { expect, test } from 'vitest'
import { describeGate, describeStep } from './describe.ts'
import { type Gate, type RolloutStep, buildApplyStep } from './step.ts'

const steps: readonly (readonly [RolloutStep, string])[] = [
  [buildApplyStep({ hosts: ['cp1', 'cp2'], stage: 'prepare' }), 'preparation on cp1 and cp2'],
  [
    buildApplyStep({
      hosts: ['cp1'],
      stage: 'etcd',
      before: [{ kind: 'etcd-quorum-without', host: 'cp1', members: ['cp1', 'cp2', 'cp3'] }],
      after: [{ kind: 'etcd-healthy', members: ['cp1', 'cp2', 'cp3'] }],
      disruptive: true,
    }),
    'etcd on cp1, while 2 of 3 etcd members are healthy without cp1',
  ],
  [
    buildApplyStep({ hosts: ['cp1'], stage: 'api', before: [{ kind: 'api-ready', hosts: ['cp2'] }] }),
    'API server on cp1, while the API server of cp2 is ready',
  ],
  [buildApplyStep({ hosts: ['cp1'], stage: 'controllers' }), 'controllers on cp1'],
  [
    buildApplyStep({
      hosts: ['w1', 'w2', 'w3', 'w4', 'w5'],
      stage: 'network',
      stages: ['node', 'network'],
      drain: true,
    }),
    'kubelet and network on 5 hosts (w1, w2 and 3 more), drained first',
  ],
]

test.each(steps)('a step is described as: $1', (one, text) => {
  expect(describeStep(one)).toBe(text)
})

const gates: readonly (readonly [Gate, string])[] = [
  [
    { kind: 'etcd-quorum-without', host: 'a', members: ['a', 'b', 'c', 'd', 'e'] },
    '3 of 5 etcd members are healthy without a',
  ],
  [{ kind: 'etcd-healthy', members: ['a', 'b', 'c'] }, 'etcd is healthy on a, b and c'],
  [{ kind: 'etcd-member-promoted', host: 'a' }, 'a is a voting etcd member'],
  [{ kind: 'api-ready', hosts: ['a'] }, 'the API server of a is ready'],
  [{ kind: 'api-ready', hosts: ['a', 'b'] }, 'the API servers of a and b are ready'],
  [{ kind: 'controllers-ready', host: 'a' }, 'the controllers of a are ready'],
  [{ kind: 'nodes-ready', hosts: ['a'] }, 'node a is ready'],
  [{ kind: 'nodes-ready', hosts: ['a', 'b', 'c', 'd'] }, 'nodes a, b and 2 more are ready'],
  [{ kind: 'network-ready', hosts: ['a', 'b'] }, 'the network of a and b is up'],
]

test.each(gates)('a gate is described as: $1', (gate, text) => {
  expect(describeGate(gate)).toBe(text)
})
