import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hostCallFormat } from '../../contract/host-call.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { testDialling } from '../testing/dialling.ts'
import { startEchoServer } from '../testing/echo-server.ts'
import type { Remote } from '../remote.ts'
import { callHost } from './call-host.ts'
import { type FakeProgram, startFakeWindowsHost, type FakeWindowsHost } from './testing/fake-windows-host.ts'

const { signal } = new AbortController()
const exe = String.raw`C:\hyperkube\programs\hyperkube-0.1.0\hyperkube.exe`
const folder = String.raw`C:\hyperkube\files`

let host: FakeWindowsHost
let remote: Remote

/** A fake hyperkube program that handles uploaded files in a minimal way. */
const program: FakeProgram = async ([path = '', word], { stdin, stdout, stderr }) => {
  if (path !== exe) {
    stderr.write(`'${path}' is not recognized as an internal or external command`)
    return 1
  }
  if (word === 'echo') {
    for await (const line of createInterface({ input: stdin })) stdout.write(`heard ${line}\r\n`)
    return 5
  }
  if (word !== 'host-call') return 3
  const [line = ''] = (await readLine(stdin)).split('\n')
  const { body } = readVersioned(hostCallFormat, JSON.parse(line))
  const send = (response: object): boolean =>
    stdout.write(
      `${JSON.stringify({ apiVersion: 'hyperkube.dev/v1', kind: 'HostCallResponse', body: response })}\r\n`,
    )
  if (body.type !== 'take') {
    send({ type: 'refused', code: 'TEST', message: `no answer to ${body.type}` })
    return 0
  }
  const [from, to] = [host.toLocalPath(body.temporary), host.toLocalPath(body.target)]
  const found = createHash('sha256')
    .update(await readFile(from))
    .digest('hex')
  if (found === body.sha256) {
    await rename(from, to)
    send({ type: 'done' })
  } else {
    await rm(from)
    send({ type: 'refused', code: 'UPLOAD_NOT_WHOLE', message: `its SHA-256 is ${found}` })
  }
  return 0
}

async function readLine(stdin: Readable): Promise<string> {
  for await (const line of createInterface({ input: stdin })) return line
  return ''
}

beforeAll(async () => {
  host = await startFakeWindowsHost(program)
  await mkdir(host.toLocalPath(folder), { recursive: true })
  await mkdir(host.toLocalPath(String.raw`C:\hyperkube\state\agent`), { recursive: true })
  await writeFile(host.toLocalPath(String.raw`C:\hyperkube\state\agent\current`), '0.1.0\n')
  remote = await host.connect()
})
afterAll(async () => {
  await remote.close()
  await host[Symbol.asyncDispose]()
})

testDialling({
  remote: () => remote,
  connectAnother: async () => host.connect(),
  directory: () => folder,
  endsPrograms: false,
  killed: 1,
  root: false,
  megabytes: 1,
  echo: startEchoServer(),
  silentRefusals: true,
})

test('exec runs a program with its arguments in a command line without quotes', async () => {
  const { code, stdout, stderr } = await remote.exec([exe, 'echo'], {
    signal,
    root: true,
    input: 'one\ntwo\n',
  })
  expect([code, stdout, stderr]).toEqual([5, 'heard one\r\nheard two\r\n', ''])
  expect(host.lines.at(-1)).toBe(`${exe} echo`)
  await expect(remote.exec(['sh', '-c', 'true'], { signal })).rejects.toThrow('cannot be run over ssh')
})

test('an open program receives input and sends output in turn', async () => {
  const { stdin, stdout, ended } = await remote.open([exe, 'echo'], { signal })
  const lines = createInterface({ input: stdout, crlfDelay: Infinity })[Symbol.asyncIterator]()
  for (const word of ['one', 'two']) {
    stdin.write(`${word}\n`)
    expect(await lines.next()).toEqual({ done: false, value: `heard ${word}` })
  }
  stdin.end()
  expect(await ended).toEqual({ code: 5, stderr: '' })
})

const content = randomBytes(1 << 20)
const sha256 = createHash('sha256').update(content).digest('hex')
const target = String.raw`C:\hyperkube\files\it`
const there = async (): Promise<string[]> => readdir(host.toLocalPath(folder))
const options = { signal, mode: 0o600 }

test('a file is uploaded completely, and no other file remains', async () => {
  const progress: number[] = []
  const onProgress = (sent: number): unknown => progress.push(sent)
  const pieces = Readable.from([content.subarray(0, 1000), content.subarray(1000)], { objectMode: false })
  await remote.upload({ stream: pieces, size: content.length }, target, { ...options, sha256, onProgress })
  expect((await readFile(host.toLocalPath(target))).equals(content)).toBe(true)
  expect([await there(), progress.at(-1)]).toEqual([['it'], content.length])
  await remote.upload({ bytes: Buffer.alloc(0) }, target, options)
  expect(await readFile(host.toLocalPath(target), 'utf8')).toBe('')
})

function failing(): Readable {
  return Readable.from(
    (function* pieces() {
      yield Buffer.from('new')
      throw new Error('broke off')
    })(),
  )
}

test.each([
  ['with the wrong digest', { bytes: Buffer.from('new') }],
  ['shorter than its announced size', { stream: Readable.from([Buffer.from('new')]), size: 4 }],
  ['longer than its announced size', { stream: Readable.from([Buffer.from('new')]), size: 2 }],
  ['that ends with an error', { stream: failing(), size: 8 }],
])('an upload %s is refused: the old file stays, and no other file remains', async (_what, source) => {
  await remote.upload({ bytes: Buffer.from('old') }, target, options)
  await expect(remote.upload(source, target, { ...options, sha256: 'f'.repeat(64) })).rejects.toThrow(
    /its SHA-256 is|changed while it was read|broke off/,
  )
  expect([await readFile(host.toLocalPath(target), 'utf8'), await there()]).toEqual(['old', ['it']])
})

test('an aborted upload leaves no file', async () => {
  const stop = new AbortController()
  const onProgress = (sent: number): void => {
    if (sent > content.length / 2) stop.abort(new Error('enough'))
  }
  const pieces = Array.from({ length: 32 }, (_, at) => content.subarray(at << 15, (at + 1) << 15))
  const source = { stream: Readable.from(pieces, { objectMode: false }), size: content.length }
  const half = String.raw`C:\hyperkube\files\half`
  await expect(remote.upload(source, half, { ...options, signal: stop.signal, onProgress })).rejects.toThrow(
    'enough',
  )
  expect(await there()).toEqual(['it'])
})

test('an upload to a missing directory is reported with a hint', async () => {
  const nowhere = String.raw`C:\hyperkube\none\file`
  await expect(remote.upload({ bytes: Buffer.from('x') }, nowhere, options)).rejects.toMatchObject({
    code: 'UPLOAD_FAILED',
    host: 'win1',
    hint: String.raw`on the host: dir C:\hyperkube\none; fsutil volume diskfree C:`,
  })
})

test('a new upload overwrites the partial file of a lost connection', async () => {
  const way = await host.connect()
  const endless = Readable.from(
    (async function* pieces() {
      yield content.subarray(0, 1 << 19)
      host.cut()
      yield content.subarray(1 << 19)
    })(),
  )
  const lost = way.upload({ stream: endless, size: content.length }, target, options)
  await expect(lost).rejects.toMatchObject({ code: 'SSH_LOST' })
  host.restore()
  await way.close()
  remote = await host.connect()
  await remote.upload({ bytes: content }, target, options)
  expect(await there()).toEqual(['it'])
})

test('installProgram puts hyperkube into the login directory of a new host, and removes it again', async () => {
  const brought = await remote.windows?.installProgram({ bytes: content }, 'hyperkube-0.2.0.exe', {
    ...options,
    sha256,
  })
  expect(brought?.program).toBe(String.raw`.\hyperkube-setup\hyperkube-0.2.0.exe`)
  const file = host.toLocalPath(String.raw`C:\Users\Administrator\hyperkube-setup\hyperkube-0.2.0.exe`)
  expect((await readFile(file)).equals(content)).toBe(true)
  await brought?.remove(signal)
  expect(await readdir(join(file, '../..'))).not.toContain('hyperkube-setup')
})

test('invalid output and a refusal of a host call are both reported', async () => {
  const open: Remote['open'] = async (argv, more) => remote.open(argv, more)
  const callee = { host: 'win1', base: 'C:\\hyperkube', open }
  const missing = callHost({ ...callee, program: 'C:\\none.exe' }, { type: 'status' }, 'status', signal)
  await expect(missing).rejects.toMatchObject({
    code: 'HOST_CALL_FAILED',
    message: expect.stringContaining('is not recognized as an internal'),
  })
  await expect(
    callHost({ ...callee, program: exe }, { type: 'status' }, 'status', signal),
  ).rejects.toMatchObject({
    code: 'TEST',
    host: 'win1',
  })
})

test('removePrograms removes only the hyperkube programs, and may run twice', async () => {
  const programs = host.toLocalPath(String.raw`C:\hyperkube\programs`)
  await mkdir(join(programs, 'hyperkube-0.1.0', 'deep'), { recursive: true })
  await writeFile(join(programs, 'hyperkube-0.1.0', 'hyperkube.exe'), 'x')
  await remote.windows?.removePrograms(signal)
  expect((await readdir(join(programs, '..'))).toSorted()).toEqual(['files', 'state'])
  await remote.windows?.removePrograms(signal)
})
