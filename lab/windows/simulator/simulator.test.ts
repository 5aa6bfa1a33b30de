import { expect, test } from 'vitest'
import { newScenario, runUntilHealthy } from './scenario.ts'
import { injectFault } from './faults.ts'
import { hostAddress, metadataAddress } from './machine.ts'
import { newMachine } from './new-machine.ts'
import { overlayNetwork } from './programs.ts'
import { simulatedHost } from './simulated-host.ts'
import { advance } from './time.ts'
import { simulatedWorker, simulatedWorkerSpec, type SimulatedWorker } from './simulated-worker.ts'

async function createWorker(): Promise<SimulatedWorker> {
  const made = simulatedWorker()
  await runUntilHealthy(newScenario(made))
  return made
}

const anchor = { ...simulatedWorkerSpec.overlay.anchor, adapter: 'Ethernet' }
const program = simulatedWorkerSpec.services.kubelet.program.path

test('the first network on an adapter moves its address to a switch, breaks connections and removes routes', async () => {
  const { host, machine } = simulatedHost(newMachine(new Map()))
  await host.networks.create(anchor)
  expect(machine.breaks).toBe(1)
  const addresses = async () =>
    (await host.adapters.list({})).filter(({ addresses: some }) =>
      some.some(({ address }) => address === hostAddress),
    )
  expect(await addresses()).toEqual([])
  advance(machine, 10_000)
  expect(await addresses()).toMatchObject([{ name: 'vEthernet (Ethernet)', virtual: true }])
  expect(await host.routes.list({ destinations: [metadataAddress] })).toEqual([])
  expect(await host.routes.list({ destinations: ['0.0.0.0/0'] })).toHaveLength(1)
})

test('a second network breaks no connection, and removing the last network removes the switch', async () => {
  const { host, machine } = simulatedHost(newMachine(new Map()))
  await host.networks.create(anchor)
  advance(machine, 10_000)
  await host.networks.create({ ...anchor, name: 'second' })
  expect(machine.breaks).toBe(1)
  await expect(host.networks.create(anchor)).rejects.toThrow('networks.create failed')
  for (const { id, name } of await host.networks.list({}))
    if (name !== 'nat') await host.networks.remove({ id })
  expect(machine.breaks).toBe(2)
  expect((await host.adapters.list({})).map(({ name }) => name)).toEqual(['Ethernet', 'Backup network'])
})

test('after a reboot the flannel network is missing, and the hyperkube switch network remains', async () => {
  const { host, machine } = await createWorker()
  const names = async () => (await host.networks.list({})).map(({ name }) => name)
  expect(await names()).toEqual(['nat', 'hyperkube-switch', overlayNetwork])
  injectFault(machine, { name: 'reboot', role: 'kubelet' })
  advance(machine, 1000)
  expect(await names()).toEqual(['nat', 'hyperkube-switch'])
  expect(await host.routes.list({ destinations: [metadataAddress] })).toEqual([])
  expect(await host.policies.list({})).toEqual([])
})

test('an HNS restart removes all policies, and kube-proxy does not restore them', async () => {
  const { host, machine } = await createWorker()
  expect(await host.policies.list({})).toHaveLength(1)
  injectFault(machine, { name: 'hns-restart', role: 'kubelet' })
  advance(machine, 60_000)
  expect(await host.policies.list({})).toEqual([])
})

test('a running program can be moved, but not overwritten or removed', async () => {
  const { host } = await createWorker()
  const to = `${program}.old`
  await expect(host.files.remove({ path: program })).rejects.toThrow('files.remove failed')
  await expect(host.files.write({ path: program, text: '' })).rejects.toThrow('files.write failed')
  await host.files.move({ from: program, to })
  await expect(host.files.remove({ path: to })).rejects.toThrow('files.remove failed')
})

test('a locked file cannot be moved until it is unlocked', async () => {
  const { host, machine } = await createWorker()
  injectFault(machine, { name: 'locked-file', role: 'kubelet' })
  const to = `${program}.old`
  await expect(host.files.move({ from: program, to })).rejects.toThrow('files.move failed')
  advance(machine, 61_000)
  await host.files.move({ from: program, to })
  expect(await host.files.stat({ path: program })).toBeUndefined()
})

test('the service manager restarts a failed service, but not a stopped one', async () => {
  const { host, machine } = await createWorker()
  const state = async () => (await host.services.list({ names: ['kubelet'] }))[0]?.state
  injectFault(machine, { name: 'killed-process', role: 'kubelet' })
  expect(await state()).toBe('Stopped')
  advance(machine, 5000)
  expect(await state()).toBe('Running')
  await host.services.stop({ name: 'containerd' })
  advance(machine, 120_000)
  expect(await state()).toBe('Stopped')
})
