import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OperatorLockStore } from './operator-lock-store.ts'

let directory: string
let store: OperatorLockStore
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lock-'))
  store = await OperatorLockStore.open(join(directory, 'claim.json'), () => 0)
})
afterEach(async () => rm(directory, { recursive: true, force: true }))

const [ana, bob] = [
  { holder: 'ana', generation: 1 },
  { holder: 'bob', generation: 1 },
]

test('of two operators who request the lock at the same moment, one gets it', async () => {
  const results = await Promise.allSettled([
    store.acquire(ana, false, false),
    store.acquire(bob, false, false),
  ])
  expect(results).toMatchObject([{ status: 'fulfilled' }, { reason: { code: 'CLAIM_HELD' } }])
  expect(store.held).toMatchObject(ana)
})

test('the heartbeat of an operator who just lost the lock is refused and does not take it back', async () => {
  await store.acquire(ana, false, false)
  const next = { ...bob, generation: 2 }
  const results = await Promise.allSettled([store.acquire(next, true, false), store.requireHeld(ana)])
  expect(results).toMatchObject([{ status: 'fulfilled' }, { reason: { code: 'CLAIM_LOST' } }])
  expect(store.held).toMatchObject(next)
})

test('a heartbeat does not undo the release of the lock', async () => {
  await store.acquire(ana, false, false)
  await Promise.allSettled([store.release(ana), store.requireHeld(ana)])
  expect(store.held).toMatchObject({ ...ana, released: true })
})
