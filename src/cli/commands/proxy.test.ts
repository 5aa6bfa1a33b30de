import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { pollUntil } from '../../kit/poll.ts'
import { runHyperkube, createInMemoryContext } from '../testing/run-in-memory.ts'
import { runCommandLine } from '../run-command-line.ts'

/** Cluster whose control planes do not respond, because no service uses port 1 on this machine. */
const text = readFileSync(join(import.meta.dirname, '../../../examples/high-availability.yml'), 'utf8')
  .replace('192.168.1.11', '127.0.0.2')
  .replace('192.168.1.12', '127.0.0.3')
  .replace('192.168.1.13', '127.0.0.4')
  .replace(/^ {4}endpoint: .*$/m, '    port: 1')

let files: Readonly<Record<string, string>>
beforeAll(async () => {
  files = Object.fromEntries((await runHyperkube('init', { 'cluster.yml': text })).files)
})

/** Runs a command until it prints a text, then interrupts it. */
async function runUntil(words: string, expected: string): Promise<{ code: number; stderr: string }> {
  const interruption = new AbortController()
  const { context, collectResult } = createInMemoryContext(files, { signal: interruption.signal })
  const running = runCommandLine('hyperkube', words.split(' '), context)
  await pollUntil(expected, async () => collectResult(0).stderr.includes(expected), {
    timeoutMs: 20_000,
    intervalMs: 5,
  })
  interruption.abort()
  const { code, stderr } = collectResult(await running)
  return { code, stderr }
}

describe('hyperkube proxy', () => {
  test('prints its address, the kubeconfig command and the health of each control plane', async () => {
    const { code, stderr } = await runUntil('proxy --listen 127.0.0.1:0', 'cp3 at 127.0.0.4:1 is unhealthy')
    expect(code).toBe(130)
    expect(stderr).toMatch(/^serving the API of production at https:\/\/127\.0\.0\.1:\d+/m)
    expect(stderr).toMatch(/→ hyperkube kubeconfig --server https:\/\/127\.0\.0\.1:\d+ > kubeconfig$/m)
    expect(stderr).toMatch(/^cp1 at 127\.0\.0\.2:1 is unhealthy .*ECONNREFUSED/m)
    expect(stderr).not.toContain('do not name')
  })

  test('warns if no API server certificate contains its address', async () => {
    const { stderr } = await runUntil('proxy --listen 127.0.0.9:0', '→ listen on 127.0.0.1')
    expect(stderr).toContain('the certificates of the API servers do not contain 127.0.0.9')
  })

  test('does not start if the port is in use', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen({ host: '127.0.0.1', port: 0 }, resolve))
    const address = other.address()
    const port = address !== null && typeof address === 'object' ? address.port : 0
    const { code, stderr } = await runHyperkube(`proxy --listen 127.0.0.1:${port}`, files)
    await new Promise((resolve) => other.close(resolve))
    expect(code).toBe(1)
    expect(stderr).toContain('PROXY_NOT_LISTENING')
  })

  test.each(['6443', ':6443', '127.0.0.1:', '127.0.0.1:70000', '127.0.0.1:http'])(
    '--listen %s is a usage error',
    async (word) => {
      expect((await runHyperkube(`proxy --listen ${word}`, files)).code).toBe(2)
    },
  )
})
