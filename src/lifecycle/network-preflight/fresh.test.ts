import { expect, test } from 'vitest'
import type { Op } from '../../contract/op.ts'
import { findNewHosts } from './new-hosts.ts'

function op(component: string, action: Op['action'], target: Op['target'] = 'service'): Op {
  return { component, stage: 'node', action, target, name: `${component}.service`, because: [] }
}

test('new are hosts that get something which others have to reach', () => {
  const ops = new Map<string, readonly Op[]>([
    ['new', [op('kubelet', 'create', 'file'), op('kubelet', 'create'), op('kubelet', 'start')]],
    ['member', [op('etcd', 'create')]],
    ['promoted', [op('kube-apiserver', 'create')]],
    ['restarted', [op('kubelet', 'restart'), op('etcd', 'change')]],
    ['renewed', [op('kubelet', 'create', 'file'), op('apiserver-proxy', 'create')]],
    ['done', []],
  ])
  expect([...findNewHosts(ops)]).toEqual(['new', 'member', 'promoted'])
})
