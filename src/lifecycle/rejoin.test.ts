import { expect, test } from 'vitest'
import { HyperkubeError } from '../kit/errors.ts'
import { makeReadyToJoin } from './rejoin.ts'
import { scriptedSession, works } from './testing/scripted-agent.ts'

const claim = { holder: 'ana', generation: 1 }

/** All that is done, one after the other, and the error there was. */
async function course(leaveEtcd: () => Promise<void>) {
  const done: string[] = []
  const session = scriptedSession('cp2', {
    run: works,
    asked: {
      push: ({ type }) => (['hello', 'attach'].includes(type) ? undefined : done.push(type)),
    },
  })
  const error: unknown = await makeReadyToJoin(session, {
    membership: {
      async leaveEtcd(host) {
        await leaveEtcd()
        done.push(`forget ${host}`)
      },
    },
    claim,
    tell: () => undefined,
    signal: new AbortController().signal,
  }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return { done, error }
}

test('the others forget a member before its host does', async () => {
  expect(await course(async () => undefined)).toEqual({
    done: ['forget cp2', 'stop-services', 'clear-etcd'],
    error: undefined,
  })
})

test('a member that the others cannot do without keeps what it has', async () => {
  const needed = new HyperkubeError('ETCD_QUORUM', 'too few would be left')
  expect(await course(async () => Promise.reject(needed))).toEqual({ done: [], error: needed })
})
