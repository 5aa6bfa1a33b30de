import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type HostLocalOptions, hostLocalAddresses } from './host-local.ts'

const network = 'flannel.4096'
const config = z.object({
  name: z.string(),
  ipam: z.object({ dataDir: z.string(), ranges: z.array(z.array(z.object({ subnet: z.string() }))) }),
})

/**
 * Fake of host-local that uses a data directory in the same way and refuses a second address for the same
 * owner.
 */
const plugin: HostLocalOptions['run'] = async (_argv, { env = {}, input }) => {
  const { name, ipam } = config.parse(JSON.parse(String(input)))
  const networkDirectory = join(ipam.dataDir, name)
  await mkdir(networkDirectory, { recursive: true })
  const { CNI_CONTAINERID: containerId, CNI_IFNAME: interfaceName, CNI_COMMAND: command } = env
  const start = ipam.ranges[0]?.[0]?.subnet.replace(/\.0\/24$/, '') ?? ''
  const done = { code: 0, stdout: '', stderr: '' }
  const taken = new Set(await readdir(networkDirectory))
  if (command === 'DEL') {
    for (const address of taken) if (address.endsWith('.2')) await rm(join(networkDirectory, address))
    return done
  }
  if (taken.has(`${start}.2`)) throw new Error('duplicate allocation is not allowed')
  await writeFile(join(networkDirectory, `${start}.2`), `${containerId}\r\n${interfaceName}`)
  await writeFile(join(networkDirectory, 'last_reserved_ip.0'), `${start}.2`)
  return { ...done, stdout: JSON.stringify({ ips: [{ address: `${start}.2/24`, gateway: `${start}.1` }] }) }
}

test('an address is reserved once per network, found again and released', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'host-local-'))
  try {
    const addresses = hostLocalAddresses({
      program: 'host-local',
      plugins: 'plugins',
      dataDirectory,
      run: plugin,
    })
    expect(await addresses.findReserved(network)).toBeUndefined()
    await addresses.release(network)
    expect(await addresses.reserve(network, '10.244.3.0/24')).toBe('10.244.3.2')
    expect(await addresses.reserve(network, '10.244.3.0/24')).toBe('10.244.3.2')
    // Reservations of pods are in the same directory and must be ignored.
    await writeFile(join(dataDirectory, network, '10.244.3.3'), 'some-pod\r\neth0')
    expect(await addresses.findReserved(network)).toBe('10.244.3.2')
    await addresses.release(network)
    expect(await addresses.findReserved(network)).toBeUndefined()
    expect(await readdir(join(dataDirectory, network))).toContain('10.244.3.3')
    expect(await addresses.reserve(network, '10.244.9.0/24')).toBe('10.244.9.2')
  } finally {
    await rm(dataDirectory, { recursive: true })
  }
})

test('an invalid response of the plugin is refused', async () => {
  const run: HostLocalOptions['run'] = async () => ({ code: 0, stdout: '{"ips":[]}', stderr: '' })
  const addresses = hostLocalAddresses({ program: 'p', plugins: 'p', dataDirectory: '/nonexistent', run })
  await expect(addresses.reserve(network, '10.244.3.0/24')).rejects.toThrow('ips')
})
