import { expect, test } from 'vitest'
import { HyperkubeError } from '../../kit/errors.ts'
import { prepareEtcdRejoin } from './rejoin.ts'
import { scriptedSession, successfulRun } from '../testing/scripted-agent.ts'

const claim = { holder: 'ana', generation: 1 }

/** Runs the preparation of a rejoin. Returns the actions in order, and the error. */
async function runRejoin(removeMember: () => Promise<void>) {
  const done: string[] = []
  const session = scriptedSession('cp2', {
    run: successfulRun,
    requests: {
      push: ({ type }) => (['hello', 'attach'].includes(type) ? undefined : done.push(type)),
    },
  })
  const error: unknown = await prepareEtcdRejoin(session, {
    async removeEtcdMember(host) {
      await removeMember()
      done.push(`forget ${host}`)
    },
    claim,
    emit: () => undefined,
    signal: new AbortController().signal,
  }).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return { done, error }
}

test('a member is removed from etcd before its services stop and its data is deleted', async () => {
  expect(await runRejoin(async () => undefined)).toEqual({
    done: ['forget cp2', 'stop-services', 'wipe-etcd'],
    error: undefined,
  })
})

test('a member that is needed for the quorum keeps its services and data', async () => {
  const needed = new HyperkubeError('ETCD_QUORUM', 'too few would be left')
  expect(await runRejoin(async () => Promise.reject(needed))).toEqual({ done: [], error: needed })
})
