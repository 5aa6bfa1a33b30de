import { beforeAll, describe, expect, test } from 'vitest'
import type { HostRequest, HostStatus } from '../contract/host-resource.ts'
import { type TestAuthority, testAuthority } from '../kit/testing/test-ca.ts'
import { agentOf, hostRights } from '../kube/host-resource.ts'
import type { ControllerRow } from './controller.ts'
import { askHost, askRights } from './host-requests.ts'
import { reconciling } from './reconciler.ts'
import { TestAuthorizer } from './testing/fake-authorizer.ts'
import { type Running, soon, type Stage, stage } from './testing/manager-bench.ts'

let authority: TestAuthority
beforeAll(async () => {
  authority = await testAuthority()
})

const path = '/apis/hyperkube.dev/v1/hosts/n1'

/** Wants something of one host, again and again until it has an answer. */
function asker(answers: unknown[]): ControllerRow {
  return {
    ...{ name: 'asker', aliases: [], summary: 'asks', byDefault: true, watches: [], rights: askRights },
    build(scene) {
      scene.queue.add('n1')
      return reconciling(scene, {
        async reconcile(host) {
          const answer = await askHost(scene, host, { id: 'x', ask: { type: 'check' }, within: 60_000 })
          if (answer !== undefined) answers.push(answer)
          return { requeueAfter: 5 }
        },
      })
    },
  }
}

function requestsIn({ cluster }: Stage): HostRequest[] {
  const spec: unknown = Reflect.get(Object(cluster.objects.get(path)), 'spec')
  return Reflect.get(Object(spec), 'requests') ?? []
}

function put({ cluster }: Stage, status: HostStatus = {}): void {
  cluster.objects.put(path, { apiVersion: 'hyperkube.dev/v1', kind: 'Host', spec: {}, status })
}

async function begun(one: Stage): Promise<Running> {
  put(one)
  const manager = await one.start('a')
  await soon('it to ask', () => requestsIn(one).length > 0)
  return manager
}

describe('a controller that asks something of a host', () => {
  test('asks once in the name of its term, and gets the answer', async () => {
    const answers: unknown[] = []
    await using one = await stage(authority, [asker(answers)])
    await begun(one)
    expect(requestsIn(one)).toMatchObject([
      { id: 'x', generation: 0, fence: { holder: 'a_1', transitions: 0 } },
    ])
    const result = { id: 'x', outcome: 'done' as const, at: '2026-11-16T08:00:00.000Z', details: [] }
    one.cluster.objects.change(path, { status: { results: [result] } })
    await soon('the answer', () => answers.length > 1)
    expect(answers[0]).toEqual(result)
    expect(one.cluster.deeds).toEqual([`hyperkube:controller:asker PATCH ${path}`])
    expect(one.authorizer.refused).toEqual([])
    expect(one.authorizer.unused.filter((right) => right.includes('asker'))).toEqual([])
  })

  test('raises its number where the host was shown a higher one, and asks again with that', async () => {
    await using one = await stage(authority, [asker([])])
    const manager = await begun(one)
    one.cluster.objects.change(path, {
      status: {
        highest: { holder: 'before the restore', transitions: 8 },
        results: [{ id: 'x', outcome: 'refused', reason: 'fence' }],
      },
    })
    await soon('a higher one', () => requestsIn(one)[0]?.fence.transitions === 9)
    expect(requestsIn(one)).toMatchObject([{ id: 'x', fence: { holder: 'a_1', transitions: 9 } }])
    expect(manager.lines.join('\n')).toContain('it was shown 8 of before the restore already')
  })

  test('writes nothing into an object that somebody has changed since it looked', async () => {
    await using one = await stage(authority, [asker([])])
    put(one)
    let between = 3
    one.cluster.intercept = ({ method, as }) => {
      // Whoever comes between the look and the write.
      if (method === 'PATCH' && as?.endsWith('asker') === true && between-- > 0) {
        one.cluster.objects.change(path, { metadata: { labels: { turn: String(between) } } })
      }
      return undefined
    }
    await one.start('a')
    await soon('it to ask', () => requestsIn(one).length > 0)
    expect(one.cluster.deeds).toHaveLength(4)
    expect(requestsIn(one)).toHaveLength(1)
  })
})

test('an agent may see its own object alone, and write nothing but its status', () => {
  const authorizer = new TestAuthorizer([...hostRights('n1'), ...hostRights('n2')])
  const act = { user: agentOf('n1'), group: 'hyperkube.dev', namespace: undefined }
  const may = (verb: string, resource: string, name?: string): boolean =>
    authorizer.mayDo({ ...act, verb, resource, name })
  expect(['list', 'watch'].map((verb) => may(verb, 'hosts', 'n1'))).toEqual([true, true])
  expect(may('patch', 'hosts/status', 'n1')).toBe(true)
  expect(may('list', 'hosts')).toBe(false)
  expect(may('watch', 'hosts', 'n2')).toBe(false)
  expect(may('patch', 'hosts/status', 'n2')).toBe(false)
  expect(may('patch', 'hosts', 'n1')).toBe(false)
  expect(may('create', 'hosts')).toBe(false)
})
