import { beforeAll, describe, expect, test } from 'vitest'
import type { HostRequest, HostStatus } from '../contract/host-resource.ts'
import { createTestCa, type TestCa } from '../kit/testing/test-ca.ts'
import { buildHostRbac, formatAgentUser } from '../kube/host-resource.ts'
import { type ControllerDefinition, createReconciler } from './controller.ts'
import { hostRequestRules, requestHostAction } from './host-requests.ts'
import { FakeAuthorizer } from './testing/fake-authorizer.ts'
import {
  createManagerBench,
  type ManagerBench,
  type RunningManager,
  waitUntil,
} from './testing/manager-bench.ts'

let ca: TestCa
beforeAll(async () => {
  ca = await createTestCa()
})

const path = '/apis/hyperkube.dev/v1/hosts/n1'

/** A controller that requests an action from one host until the host reports a result. */
function buildRequester(results: unknown[]): ControllerDefinition {
  return {
    ...{
      name: 'requester',
      aliases: [],
      summary: 'requests',
      byDefault: true,
      watches: [],
      rules: hostRequestRules,
    },
    build(context) {
      context.queue.add('n1')
      return createReconciler(context, {
        async reconcile(host) {
          const result = await requestHostAction(context, host, {
            id: 'x',
            action: { type: 'check' },
            startTimeoutMs: 60_000,
          })
          if (result !== undefined) results.push(result)
          return { requeueAfter: 5 }
        },
      })
    },
  }
}

function readRequests({ cluster }: ManagerBench): HostRequest[] {
  const spec: unknown = Reflect.get(Object(cluster.objects.get(path)), 'spec')
  return Reflect.get(Object(spec), 'requests') ?? []
}

function putHost({ cluster }: ManagerBench, status: HostStatus = {}): void {
  cluster.objects.put(path, { apiVersion: 'hyperkube.dev/v1', kind: 'Host', spec: {}, status })
}

async function startAndWait(one: ManagerBench): Promise<RunningManager> {
  putHost(one)
  const manager = await one.start('a')
  await waitUntil('the request', () => readRequests(one).length > 0)
  return manager
}

describe('a controller that requests an action from a host', () => {
  test('requests once per term, and gets the result', async () => {
    const results: unknown[] = []
    await using one = await createManagerBench(ca, [buildRequester(results)])
    await startAndWait(one)
    expect(readRequests(one)).toMatchObject([
      { id: 'x', generation: 0, fence: { holder: 'a_1', transitions: 0 } },
    ])
    const result = { id: 'x', outcome: 'done' as const, at: '2026-11-16T08:00:00.000Z', details: [] }
    one.cluster.objects.change(path, { status: { results: [result] } })
    await waitUntil('the result', () => results.length > 1)
    expect(results[0]).toEqual(result)
    expect(one.cluster.controllerWrites).toEqual([`hyperkube:controller:requester PATCH ${path}`])
    expect(one.authorizer.refused).toEqual([])
    expect(one.authorizer.unused.filter((right) => right.includes('requester'))).toEqual([])
  })

  test('raises its fence above the fence that the host accepted, and requests again', async () => {
    await using one = await createManagerBench(ca, [buildRequester([])])
    const manager = await startAndWait(one)
    one.cluster.objects.change(path, {
      status: {
        highestFence: { holder: 'before the restore', transitions: 8 },
        results: [{ id: 'x', outcome: 'refused', reason: 'fence' }],
      },
    })
    await waitUntil('a higher fence', () => readRequests(one)[0]?.fence.transitions === 9)
    expect(readRequests(one)).toMatchObject([{ id: 'x', fence: { holder: 'a_1', transitions: 9 } }])
    expect(manager.lines.join('\n')).toContain('the host already accepted fence 8 of before the restore')
  })

  test('retries a write of an object that changed since it was read, and requests once', async () => {
    await using one = await createManagerBench(ca, [buildRequester([])])
    putHost(one)
    let between = 3
    one.cluster.intercept = ({ method, impersonatedUser }) => {
      // Simulates another writer between the read and the write.
      if (method === 'PATCH' && impersonatedUser?.endsWith('requester') === true && between-- > 0) {
        one.cluster.objects.change(path, { metadata: { labels: { turn: String(between) } } })
      }
      return undefined
    }
    await one.start('a')
    await waitUntil('the request', () => readRequests(one).length > 0)
    expect(one.cluster.controllerWrites).toHaveLength(4)
    expect(readRequests(one)).toHaveLength(1)
  })
})

test('an agent can read only its own object, and write only its status', () => {
  const authorizer = new FakeAuthorizer([...buildHostRbac('n1'), ...buildHostRbac('n2')])
  const access = { user: formatAgentUser('n1'), group: 'hyperkube.dev', namespace: undefined }
  const canDo = (verb: string, resource: string, name?: string): boolean =>
    authorizer.authorize({ ...access, verb, resource, name })
  expect(['list', 'watch'].map((verb) => canDo(verb, 'hosts', 'n1'))).toEqual([true, true])
  expect(canDo('patch', 'hosts/status', 'n1')).toBe(true)
  expect(canDo('list', 'hosts')).toBe(false)
  expect(canDo('watch', 'hosts', 'n2')).toBe(false)
  expect(canDo('patch', 'hosts/status', 'n2')).toBe(false)
  expect(canDo('patch', 'hosts', 'n1')).toBe(false)
  expect(canDo('create', 'hosts')).toBe(false)
})
