import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { array, assert, asyncProperty, string } from 'fast-check'
import { expect, test } from 'vitest'
import type { ExecResult } from '../remote.ts'
import { signal, type RemoteSubject } from './subject.ts'

export function testExecuting({ remote, root }: RemoteSubject): void {
  const script = async (text: string, input?: string): Promise<ExecResult> =>
    remote().exec(['sh', '-c', text], { signal, ...(input === undefined ? {} : { input }) })

  test('exec returns exit codes', async () => {
    const codes = [0, 1, 3, 127, 255]
    const found = codes.map(async (code) => (await script(`exit ${code}`)).code)
    expect(await Promise.all(found)).toEqual(codes)
  })

  test('exec returns 127 for a missing program', async () => {
    const result = await remote().exec(['no-such-program-anywhere'], { signal })
    expect(result).toMatchObject({ code: 127, stderr: expect.stringContaining('not found') })
  })

  test('exec separates stdout and stderr', async () => {
    const result = await script('echo out; echo err >&2; echo more')
    expect([result.stdout, result.stderr]).toEqual(['out\nmore\n', 'err\n'])
  })

  test('exec sends text, bytes and streams as input, and closes the input', async () => {
    const bytes = randomBytes(3 << 20)
    const inputs = ['text', bytes, Readable.from([bytes.subarray(0, 1 << 20), bytes.subarray(1 << 20)])]
    const found = inputs.map(async (input) => (await remote().exec(['cat'], { signal, input })).bytes)
    const [text, whole, stream] = await Promise.all(found)
    expect(text?.toString()).toBe('text')
    expect(whole?.equals(bytes)).toBe(true)
    expect(stream?.equals(bytes)).toBe(true)
  })

  test('exec returns the exit code of a program that ignores its input', async () => {
    expect((await script('exit 4', 'x'.repeat(8 << 20))).code).toBe(4)
    const endless = Readable.from(
      (function* zeros() {
        for (;;) yield Buffer.alloc(1 << 16)
      })(),
    )
    expect((await remote().exec(['true'], { signal, input: endless })).code).toBe(0)
    expect(endless.destroyed).toBe(true)
  })

  test('exec without input closes stdin', async () => {
    expect((await remote().exec(['cat'], { signal })).bytes.length).toBe(0)
  })

  test('exec returns 30 MB of output', async () => {
    const result = await script('head -c 30000000 /dev/zero; head -c 1000000 /dev/zero >&2')
    expect([result.bytes.length, result.stderr.length]).toEqual([30_000_000, 1_000_000])
  })

  test('exec refuses endless output', async () => {
    await expect(remote().exec(['cat', '/dev/zero'], { signal })).rejects.toMatchObject({
      code: 'SSH_OUTPUT_TOO_LONG',
      host: remote().host,
    })
  })

  test('exec passes arguments unchanged', async () => {
    const words = array(string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 5 })
    const awkward = [
      '',
      ' ',
      "it's",
      '"',
      '$HOME',
      '`id`',
      '$(id)',
      '\\',
      'a\\',
      '\n',
      '*',
      '~',
      '-n',
      '!x',
      '#',
      'ü☃',
    ]
    await assert(
      asyncProperty(words, async (some) => {
        const clean = some.map((word) => word.replaceAll('\0', ''))
        const { stdout } = await remote().exec(['printf', String.raw`%s\0`, ...clean], { signal })
        expect(stdout.split('\0').slice(0, -1)).toEqual(clean.length === 0 ? [''] : clean)
      }),
      { numRuns: 30, examples: [[awkward]] },
    )
  })

  test('exec runs several programs at once', async () => {
    const codes = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(async (code) => script(`exit ${code}`)))
    expect(codes.map(({ code }) => code)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  test.skipIf(!root)('exec runs as root if requested', async () => {
    expect((await remote().exec(['id', '-u'], { signal, root: true })).stdout).toBe('0\n')
  })
}
