import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  createBlankTable,
  encodeTable,
  hashWithoutTable,
  type ReleaseTable,
  tableMagic,
} from '../../contract/release-table.ts'
import type { ReleaseOrigin } from '../../workspace/context.ts'
import { type AgentReleaseDeps, findAgentRelease } from './agent-release.ts'

const name = 'hyperkube-windows-x64.exe'

let directory = ''
let server: Server
let served: Buffer
let requests: string[] = []
let url = ''

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-agent-release-'))
  requests = []
  server = createServer((request, response) => {
    requests.push(request.url ?? '')
    response.end(served)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  url = `http://127.0.0.1:${address.port}`
})
afterEach(async () => {
  server.close()
  await rm(directory, { recursive: true })
})

/** Builds an executable with a table, as the build script does. */
async function createRelease(): Promise<{ content: Buffer; table: ReleaseTable }> {
  const content = Buffer.concat([Buffer.alloc(5000, 1), createBlankTable(), Buffer.alloc(300, 2)])
  const offset = content.indexOf(tableMagic) + tableMagic.length
  const { sha256, size } = await hashWithoutTable(
    (async function* () {
      yield content
    })(),
    offset,
  )
  const table = { url: 'https://release.invalid/v1', files: { [name]: { sha256, offset, size } } }
  encodeTable(table).copy(content, offset)
  return { content, table }
}

function createDeps(deps: Partial<AgentReleaseDeps>): AgentReleaseDeps {
  return {
    executable: join(directory, 'bin/hyperkube'),
    cacheDirectory: () => join(directory, 'cache'),
    table: undefined,
    url: undefined,
    writeLine: () => undefined,
    ...deps,
  }
}

const origin = (artifacts: ReleaseOrigin['artifacts'] = 'upstream'): ReleaseOrigin => ({
  artifacts,
  openRoute: async () => Promise.resolve({}),
  signal: new AbortController().signal,
})

async function writeBeside(content: Buffer): Promise<string> {
  await mkdir(join(directory, 'bin'), { recursive: true })
  const file = join(directory, 'bin', name)
  await writeFile(file, content)
  return file
}

test('an executable beside the program is used if it is of the same release', async () => {
  const { content, table } = await createRelease()
  const file = await writeBeside(content)
  expect((await findAgentRelease('amd64', 'windows', createDeps({ table }), origin())).file).toBe(file)
  content[0] = 9
  await writeBeside(content)
  await expect(findAgentRelease('amd64', 'windows', createDeps({ table }), origin())).rejects.toMatchObject({
    code: 'RELEASE_NOT_THE_SAME',
  })
})

test('without a table, an executable beside the program is used as it is', async () => {
  const file = await writeBeside(Buffer.from('any'))
  expect((await findAgentRelease('amd64', 'windows', createDeps({}), origin())).file).toBe(file)
})

test('HYPERKUBE_RELEASE_URL names a directory, and the cache keeps the executable', async () => {
  const { content, table } = await createRelease()
  served = gzipSync(content)
  const deps = createDeps({ table, url: `${url}/dir/` })
  const { file, compress } = await findAgentRelease('amd64', 'windows', deps, origin())
  expect(await readFile(file)).toEqual(content)
  expect(await compress()).toBe(`${file}.gz`)
  await findAgentRelease('amd64', 'windows', deps, origin())
  expect(requests).toEqual([`/dir/${name}.gz`])
})

test('the mirror of the cluster has the public URL below its host name', async () => {
  const { content, table } = await createRelease()
  served = gzipSync(content)
  await findAgentRelease('amd64', 'windows', createDeps({ table }), origin({ mirror: url }))
  expect(requests).toEqual([`/release.invalid/v1/${name}.gz`])
})

test.each([
  ['a changed executable', (content: Buffer) => gzipSync(content.fill(3, 0, 1))],
  ['a longer executable', (content: Buffer) => gzipSync(Buffer.concat([content, Buffer.alloc(9)]))],
  ['a file that is not compressed', () => Buffer.from('not found')],
])('%s is refused, and the cache stays empty', async (_, change) => {
  const { content, table } = await createRelease()
  served = change(Buffer.from(content))
  const deps = createDeps({ table, url })
  await expect(findAgentRelease('amd64', 'windows', deps, origin())).rejects.toMatchObject({
    code: 'RELEASE_NOT_THE_SAME',
  })
  served = gzipSync(content)
  expect((await findAgentRelease('amd64', 'windows', deps, origin())).version).toMatch(/-[0-9a-f]{8}$/)
})

test('a changed file in the cache is refused', async () => {
  const { content, table } = await createRelease()
  served = gzipSync(content)
  const deps = createDeps({ table, url })
  const { file } = await findAgentRelease('amd64', 'windows', deps, origin())
  await chmod(file, 0o700)
  await writeFile(file, content.fill(3, 0, 1))
  await expect(findAgentRelease('amd64', 'windows', deps, origin())).rejects.toMatchObject({
    code: 'RELEASE_NOT_THE_SAME',
    hint: `remove it: rm ${file}`,
  })
})

test('with an air-gap bundle nothing is downloaded', async () => {
  const { table } = await createRelease()
  const deps = createDeps({ table, url })
  const finding = findAgentRelease('amd64', 'windows', deps, origin({ bundle: 'cluster.bundle' }))
  await expect(finding).rejects.toMatchObject({ code: 'RELEASE_NOT_THERE' })
  expect(requests).toEqual([])
})
