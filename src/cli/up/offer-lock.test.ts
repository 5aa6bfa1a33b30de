import { expect, test } from 'vitest'
import { fakeImages, fakeUpstream } from '../../catalog/testing/fake-upstream.ts'
import { fakeFetcher } from '../../catalog/testing/fake-fetcher.ts'
import { fakeRegistries } from '../../catalog/registry/testing/fake-registry.ts'
import { type CliResult, runHyperkube } from '../testing/run-in-memory.ts'
import { buildClusterFile } from '../testing/cluster-file.ts'

const cluster = buildClusterFile('{ name: cp1, address: 10.0.0.1, roles: [control-plane] }')

async function run(
  words: string,
  files: Readonly<Record<string, string>>,
  replies?: readonly boolean[],
): Promise<CliResult> {
  const sites = fakeUpstream('1.37.1', '1.36.4')
  const upstream = {
    fetcher: fakeFetcher((url) => sites.get(url)),
    web: fakeRegistries(fakeImages()),
  }
  return runHyperkube(words, files, replies === undefined ? upstream : { ...upstream, replies })
}

test.each(['up', 'plan'])('%s offers to write a missing cluster.lock', async (command) => {
  const { files, prompts } = await run(command, { 'cluster.yml': cluster }, [true])
  expect(prompts[0]).toContain('cluster.lock does not exist')
  expect(files.get('cluster.lock')).toContain('kubernetes: 1.37.1')
})

test('a declined offer, --yes or no terminal leave cluster.lock missing', async () => {
  for (const { files, code, stderr } of [
    await run('up', { 'cluster.yml': cluster }, [false]),
    await run('up --yes', { 'cluster.yml': cluster }, [true]),
    await run('up', { 'cluster.yml': cluster }),
  ]) {
    expect({ code, hasLock: files.has('cluster.lock') }).toEqual({ code: 1, hasLock: false })
    expect(stderr).toContain('LOCK_NOT_READ')
  }
})

test('the prompt for an outdated cluster.lock contains the reason; a valid lock needs no prompt', async () => {
  const old = await run('lock', { 'cluster.yml': cluster.replace('1.37.1', '1.36.4') })
  const outdated = { 'cluster.yml': cluster, 'cluster.lock': old.files.get('cluster.lock') ?? '' }
  const { files, prompts } = await run('plan', outdated, [true])
  expect(prompts[0]).toContain('the lock is for Kubernetes 1.36.4, not 1.37.1')
  expect(files.get('cluster.lock')).toContain('kubernetes: 1.37.1')
  const again = await run('plan', Object.fromEntries(files), [true])
  expect(again.prompts).toEqual([])
})

test('changed content under the same version is refused although the lock is outdated anyway', async () => {
  const old = await run('lock', { 'cluster.yml': cluster.replace('1.37.1', '1.36.4') })
  const text = old.files.get('cluster.lock') ?? ''
  const replaced = text.replace(/(component: flannel[^]*?sha256: )[0-9a-f]{64}/, `$1${'ab'.repeat(32)}`)
  const outdated = { 'cluster.yml': cluster, 'cluster.lock': replaced }
  const { code, stderr, files } = await run('plan', outdated, [true])
  expect(code).toBe(1)
  expect(stderr).toContain('LOCK_DIGEST_CHANGED')
  expect(files.get('cluster.lock')).toBe(replaced)
})
