import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSnapshotDirectory } from './testing/fixtures.ts'
import { buildMemberArchive, formatEtcdPeer } from './member-data.ts'

const { signal } = new AbortController()
const members = [
  { name: 'cp1', address: '10.0.0.1' },
  { name: 'cp2', address: '10.0.0.2' },
] as const
const options = { database: '/some/etcd.db', members, token: 'shop-1' }

let directory: Awaited<ReturnType<typeof createSnapshotDirectory>>
beforeEach(async () => {
  directory = await createSnapshotDirectory()
  await mkdir(directory.at('work'))
})
afterEach(async () => directory[Symbol.asyncDispose]())

async function etcdutl(text: string): Promise<{ etcd: string; etcdutl: string }> {
  await writeFile(directory.at('etcdutl'), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  return { etcd: 'none', etcdutl: directory.at('etcdutl') }
}

test('etcdutl builds the member data with a bumped revision and marks it compacted', async () => {
  // The script replaces etcdutl. Instead of a database it writes its own arguments.
  const programs = await etcdutl(
    'for word; do case $word in --data-dir=*) data=${word#*=};; esac; done; /bin/mkdir -p "$data/member/snap"; printf "%s\\n" "$@" > "$data/member/snap/db"',
  )
  const archive = await buildMemberArchive(programs, options, members[1], directory.at('work'), signal)
  const bytes = await readFile(archive.path)
  expect({ size: archive.size, sha256: archive.sha256 }).toEqual({
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  })
  const args = execFileSync('tar', ['-xzOf', archive.path, 'member/snap/db'], { encoding: 'utf8' })
  expect(args.replace(directory.at('work'), 'WORK').split('\n')).toEqual([
    'snapshot',
    'restore',
    '/some/etcd.db',
    '--data-dir=WORK/cp2.data',
    '--name=cp2',
    '--initial-cluster=cp1=https://10.0.0.1:2380,cp2=https://10.0.0.2:2380',
    '--initial-cluster-token=shop-1',
    '--initial-advertise-peer-urls=https://10.0.0.2:2380',
    '--bump-revision=1000000000',
    '--mark-compacted',
    '',
  ])
  expect(await readdir(directory.at('work'))).toEqual(['cp2.tar.gz'])
})

test('the error of etcdutl is reported, and no file remains', async () => {
  const programs = await etcdutl('echo "expected sha256" >&2; exit 1')
  await expect(
    buildMemberArchive(programs, options, members[0], directory.at('work'), signal),
  ).rejects.toMatchObject({
    code: 'SNAPSHOT_NOT_RESTORED',
    cause: { message: expect.stringContaining('expected sha256') },
  })
  expect(await readdir(directory.at('work'))).toEqual([])
})

test('formatEtcdPeer formats a member for --initial-cluster', () => {
  expect(formatEtcdPeer(members[0])).toBe('cp1=https://10.0.0.1:2380')
})
