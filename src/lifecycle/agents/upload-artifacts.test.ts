import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { imageArchive } from '../../bundle/image-archive.ts'
import { kubeletContent, bundleLock, createTestBundle } from '../../bundle/testing/fixtures.ts'
import type { OpenBundle } from '../../bundle/open.ts'
import { uploadedFilePath, uploadedImagePath, uploadDirectory } from '../../contract/host-paths.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { AgentRequest } from '../../contract/request.ts'
import type { Op } from '../../contract/op.ts'
import { buildComponent, buildPlan } from '../../diff/testing/fixtures.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Remote } from '../../ssh/remote.ts'
import { uploadToHost, uploadArtifacts, listUploadsCommand, findUploads } from './upload-artifacts.ts'
import { scriptedSession } from '../testing/scripted-agent.ts'
import { Session } from './session.ts'
import type { EventBody } from './event-stream.ts'

const { signal } = new AbortController()
const [artifact] = bundleLock.artifacts
const pause = bundleLock.images['pause'] ?? ''
const file = uploadedFilePath(artifact?.sha256 ?? '')
const archive = uploadedImagePath(pause.split('@')[1] ?? '')

const plan: NodePlan = buildPlan(
  buildComponent({
    name: 'kubelet',
    images: [pause],
    artifacts: [
      {
        from: 'url',
        name: 'kubelet',
        version: '1.37.1',
        url: artifact?.url ?? '',
        sha256: artifact?.sha256 ?? '',
        directory: '/opt/kubelet',
        unpack: { kind: 'program', as: 'kubelet' },
      },
    ],
  }),
)

function op(target: Op['target'], name: string, action: Op['action'] = 'create'): Op {
  return { component: 'kubelet', stage: 'node', action, target, name, because: [] }
}

const both = [op('artifact', 'kubelet-1.37.1'), op('image', pause), op('file', '/etc/x')]

/** A host that stores uploaded files. The first `losses` uploads lose the connection. */
function hostWith(stored: Map<string, Buffer>, losses = 0) {
  const sent: string[] = []
  let left = losses
  const base = scriptedSession('a', { run: async function* () {}, requests: [] }).remote
  if (base === undefined) throw new Error('there is no remote')
  const remote: Remote = {
    ...base,
    async exec(argv) {
      expect(argv.slice(0, 3)).toEqual([...listUploadsCommand])
      const stdout = [...stored].map(([path, bytes]) => `${bytes.length} ${path}\n`).join('')
      return { code: 0, stdout, stderr: '', bytes: Buffer.from(stdout) }
    },
    async upload(source, target, options) {
      if (left > 0) {
        left--
        throw new HyperkubeError('SSH_LOST', 'unreachable', { host: 'a' })
      }
      if (!('stream' in source)) throw new Error('not a stream')
      const chunks: Buffer[] = []
      for await (const chunk of source.stream) chunks.push(Buffer.from(chunk))
      const bytes = Buffer.concat(chunks)
      expect(bytes).toHaveLength(source.size)
      const digest = createHash('sha256').update(bytes).digest('hex')
      if (options.sha256 !== undefined && digest !== options.sha256) throw new Error('other bytes')
      expect(options).toMatchObject({ mode: 0o600, root: true })
      options.onProgress?.(bytes.length, bytes.length)
      const path = target.slice(uploadDirectory.length + 1)
      stored.set(path, bytes)
      sent.push(path)
    },
  }
  return { session: new Session('a', remote, async () => remote, signal), sent }
}

const quiet = { emit: () => undefined, signal }

test('only artifacts and images that the ops of a host create are uploaded', async () => {
  await using made = await createTestBundle()
  const stored = new Map<string, Buffer>()
  const { session, sent } = hostWith(stored)
  const emitted: EventBody[] = []
  await uploadArtifacts(made.bundle, [plan], new Map([['a', both]]), new Map([['a', session]]), {
    emit: (what) => emitted.push(what),
    signal,
  })
  expect(sent).toEqual([file, archive])
  expect(stored.get(file)?.equals(kubeletContent)).toBe(true)
  const image = made.bundle.manifest.images.find(({ reference }) => reference === pause)
  expect(image && imageArchive(made.bundle, image, 'amd64').size).toBe(stored.get(archive)?.length)
  expect(emitted[0]).toMatchObject({ type: 'progress', unit: 'MB' })
})

test('an existing file is not uploaded again unless its size differs', async () => {
  await using made = await createTestBundle()
  const { session, sent } = hostWith(
    new Map([
      [file, kubeletContent],
      [archive, Buffer.of(1)],
    ]),
  )
  await uploadToHost(session, findUploads(made.bundle, plan, both), quiet)
  expect(sent).toEqual([archive])
})

test('a host whose ops need no artifacts gets no request', async () => {
  await using made = await createTestBundle()
  const requests: AgentRequest['body'][] = []
  const silent = scriptedSession('a', { run: async function* () {}, requests })
  const ops = new Map([['a', [op('image', pause, 'remove'), op('file', '/etc/x')]]])
  await uploadArtifacts(made.bundle, [plan], ops, new Map([['a', silent]]), quiet)
  expect(requests).toEqual([])
})

test('an upload reconnects after a lost connection, but not without limit', async () => {
  await using made = await createTestBundle()
  const { session, sent } = hostWith(new Map(), 2)
  await uploadToHost(session, findUploads(made.bundle, plan, both), quiet)
  expect(sent).toEqual([file, archive])
  const unreachable = hostWith(new Map(), 100)
  await expect(
    uploadToHost(unreachable.session, findUploads(made.bundle, plan, both), quiet),
  ).rejects.toMatchObject({
    code: 'SSH_LOST',
  })
})

test('an artifact or image that the bundle lacks is reported before any upload', async () => {
  await using made = await createTestBundle()
  const bundle: OpenBundle = {
    ...made.bundle,
    manifest: { ...made.bundle.manifest, members: [], images: [] },
  }
  for (const one of both.slice(0, 2)) {
    expect(() => findUploads(bundle, plan, [one])).toThrow(
      expect.objectContaining({
        code: 'BUNDLE_INCOMPLETE',
        host: 'a',
        message: expect.stringContaining(one.name),
      }),
    )
  }
})

test('a damaged image of the bundle is not stored on the host', async () => {
  await using made = await createTestBundle((bytes) =>
    bytes.writeUInt8(0, bytes.indexOf('the programs of pause for amd64')),
  )
  const stored = new Map<string, Buffer>()
  const { session } = hostWith(stored)
  await expect(uploadToHost(session, findUploads(made.bundle, plan, both), quiet)).rejects.toMatchObject({
    code: 'BUNDLE_DAMAGED',
  })
  expect([...stored.keys()]).toEqual([file])
})
