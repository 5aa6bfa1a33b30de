import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type HostLocalWish, hostLocalAddresses } from './host-local.ts'

const network = 'flannel.4096'
const config = z.object({
  name: z.string(),
  ipam: z.object({ dataDir: z.string(), ranges: z.array(z.array(z.object({ subnet: z.string() }))) }),
})

/** The plugin's own way with its book, by which a second address for the same owner is refused. */
const plugin: HostLocalWish['run'] = async (_argv, { env = {}, input }) => {
  const { name, ipam } = config.parse(JSON.parse(String(input)))
  const book = join(ipam.dataDir, name)
  await mkdir(book, { recursive: true })
  const { CNI_CONTAINERID: who, CNI_IFNAME: what, CNI_COMMAND: command } = env
  const start = ipam.ranges[0]?.[0]?.subnet.replace(/\.0\/24$/, '') ?? ''
  const done = { code: 0, stdout: '', stderr: '' }
  const taken = new Set(await readdir(book))
  if (command === 'DEL') {
    for (const address of taken) if (address.endsWith('.2')) await rm(join(book, address))
    return done
  }
  if (taken.has(`${start}.2`)) throw new Error('duplicate allocation is not allowed')
  await writeFile(join(book, `${start}.2`), `${who}\r\n${what}`)
  await writeFile(join(book, 'last_reserved_ip.0'), `${start}.2`)
  return { ...done, stdout: JSON.stringify({ ips: [{ address: `${start}.2/24`, gateway: `${start}.1` }] }) }
}

test('an address is taken once, is found again by its owner, and goes', async () => {
  const books = await mkdtemp(join(tmpdir(), 'host-local-'))
  try {
    const addresses = hostLocalAddresses({ program: 'host-local', plugins: 'plugins', books, run: plugin })
    expect(await addresses.reserved(network)).toBeUndefined()
    await addresses.release(network)
    expect(await addresses.reserve(network, '10.244.3.0/24')).toBe('10.244.3.2')
    expect(await addresses.reserve(network, '10.244.3.0/24')).toBe('10.244.3.2')
    // Those of pods are in the same book.
    await writeFile(join(books, network, '10.244.3.3'), 'some-pod\r\neth0')
    expect(await addresses.reserved(network)).toBe('10.244.3.2')
    await addresses.release(network)
    expect(await addresses.reserved(network)).toBeUndefined()
    expect(await readdir(join(books, network))).toContain('10.244.3.3')
    expect(await addresses.reserve(network, '10.244.9.0/24')).toBe('10.244.9.2')
  } finally {
    await rm(books, { recursive: true })
  }
})

test('what is no answer of the plugin is refused', async () => {
  const run: HostLocalWish['run'] = async () => ({ code: 0, stdout: '{"ips":[]}', stderr: '' })
  const addresses = hostLocalAddresses({ program: 'p', plugins: 'p', books: '/nonexistent', run })
  await expect(addresses.reserve(network, '10.244.3.0/24')).rejects.toThrow('ips')
})
