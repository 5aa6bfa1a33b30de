import { expect, test } from 'vitest'
import type { Op } from '../../contract/op.ts'
import { buildPlanWithHost, runningComponent } from './testing/fixtures.ts'
import { orderPredecessors } from './order-predecessors.ts'

const plan = buildPlanWithHost(
  runningComponent('etcd', '1', { stage: 'etcd' }),
  runningComponent('kube-apiserver', '1', { stage: 'api', needs: ['etcd'] }),
  runningComponent('kube-controller-manager', '1', { stage: 'controllers', needs: ['kube-apiserver'] }),
  runningComponent('containerd', '1', { stage: 'node' }),
  runningComponent('kubelet', '1', { stage: 'node', needs: ['containerd'] }),
)

const end = (component: string, stage: Op['stage']): Op => ({
  ...{ component, stage, name: component, because: [] },
  target: 'predecessor',
  action: 'create',
})
const file = (component: string, stage: Op['stage']): Op => ({
  ...end(component, stage),
  target: 'file',
  name: `/etc/${component}`,
})
const format = (ops: readonly Op[]): string[] => ops.map(({ target, component }) => `${target} ${component}`)

test.each(['create', 'change'] as const)(
  'only the API server ends earlier, just before etcd: %s',
  (action) => {
    const ops = [
      file('etcd', 'etcd'),
      { ...end('etcd', 'etcd'), action },
      file('kube-apiserver', 'api'),
      { ...end('kube-apiserver', 'api'), action },
      end('kube-controller-manager', 'controllers'),
      end('containerd', 'node'),
      end('kubelet', 'node'),
    ]
    expect(format(orderPredecessors(ops, plan))).toEqual([
      'file etcd',
      'predecessor kube-apiserver',
      'predecessor etcd',
      'file kube-apiserver',
      'predecessor kube-controller-manager',
      'predecessor containerd',
      'predecessor kubelet',
    ])
  },
)

test('without an etcd member that ends, the order stays', () => {
  const ops = [
    file('etcd', 'etcd'),
    end('kube-apiserver', 'api'),
    end('containerd', 'node'),
    end('kubelet', 'node'),
  ]
  expect(orderPredecessors(ops, plan)).toEqual(ops)
})
