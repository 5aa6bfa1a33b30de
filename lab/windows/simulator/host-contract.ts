import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict'
import { adminOnlySddl } from '../../../src/agent/host/windows-operations/files.ts'
import type { WindowsOperations } from '../../../src/agent/host/windows-operations/table.ts'

export interface HostContractCheck {
  readonly name: string
  /** True if the check changes the host. It reverts every change. */
  readonly changes: boolean
  readonly check: (host: WindowsOperations, scratch: string) => Promise<void>
}

/** Values that would run code or end a string if they were inserted into a script unescaped. */
export const hostileValues: readonly string[] = [
  `'; throw 'ran'; '`,
  `"; throw "ran"; "`,
  '$(throw 1) `n $env:Path',
  `@' here '@`,
  'two  blanks, a tab\tand {0} [brackets] %PATH% & | ; #',
  'Grüße, 世界, 🦊, \u2018curly\u2019',
]

const group = 'hyperkube-contract'
const unknownId = '00000000-0000-4000-8000-00000000dead'

/**
 * Checks that every Windows host must pass. They run against the simulator and against real hosts; checks
 * that only read come first.
 */
export const hostContract: readonly HostContractCheck[] = [
  {
    name: 'the host reports its build, PowerShell version and administrator permissions',
    changes: false,
    check: async ({ system }) => {
      const described = await system.describe({})
      ok((described?.build ?? 0) >= 17_763)
      match(described?.powershell ?? '', /^5\.1\./)
      equal(described?.administrator, true)
    },
  },
  {
    name: 'an existing service is listed with its state, a missing one is not',
    changes: false,
    check: async ({ services }) => {
      const found = await services.list({ names: ['hns', 'hyperkube-contract'] })
      deepEqual(
        found.map(({ name, state }) => [name, state]),
        [['hns', 'Running']],
      )
      ok((found[0]?.processId ?? 0) > 0)
    },
  },
  {
    name: 'an adapter that is up has an address and the default route',
    changes: false,
    check: async ({ adapters, routes }) => {
      const found = await adapters.list({})
      const out = await routes.list({ destinations: ['0.0.0.0/0'] })
      const usable = found.filter(({ index, up, addresses }) => {
        return up && addresses.length > 0 && out.some(({ interfaceIndex }) => interfaceIndex === index)
      })
      notEqual(usable.length, 0)
    },
  },
  {
    name: 'networks, endpoints and policies have ids in lower case',
    changes: false,
    check: async ({ networks, endpoints, policies }) => {
      const found = await networks.list({})
      for (const { id } of [...found, ...(await endpoints.list({})), ...(await policies.list({}))])
        equal(id, id.toLowerCase())
      for (const { network } of await endpoints.list({})) ok(found.some(({ id }) => id === network))
    },
  },
  {
    name: 'processes are found by the directory of their program',
    changes: false,
    check: async ({ processes }, scratch) => {
      notEqual((await processes.list({ below: String.raw`C:\Windows` })).length, 0)
      deepEqual(await processes.list({ below: scratch }), [])
    },
  },
  {
    name: 'missing files, variables and firewall rules are reported as missing',
    changes: false,
    check: async ({ files, environment, firewall }, scratch) => {
      const path = `${scratch}\\missing`
      equal(await files.stat({ path }), undefined)
      equal(await files.read({ path }), undefined)
      equal(await files.digest({ path }), undefined)
      equal(await files.access({ path }), undefined)
      equal(await environment.get({ name: 'HyperkubeContract' }), undefined)
      deepEqual(await firewall.list({ group }), [])
    },
  },
  {
    name: 'a variable is set to any text and removed',
    changes: true,
    check: async ({ environment }) => {
      const name = 'HyperkubeContract'
      for (const value of hostileValues) {
        await environment.set({ name, value })
        equal(await environment.get({ name }), value)
      }
      await environment.set({ name, value: null })
      equal(await environment.get({ name }), undefined)
    },
  },
  {
    name: 'a file is written with any name and text, and removed',
    changes: true,
    check: async ({ files }, scratch) => {
      for (const text of hostileValues) {
        // Remove the characters that Windows does not allow in file names.
        const path = `${scratch}\\${text.replaceAll(/["|:?*\t]/g, '')}.txt`
        await files.write({ path, text: 'before' })
        await files.write({ path, text })
        equal(await files.read({ path }), text)
        equal((await files.stat({ path }))?.kind, 'file')
        await files.remove({ path })
        await files.remove({ path })
        equal(await files.stat({ path }), undefined)
      }
    },
  },
  {
    name: 'a file is moved only to a path that does not exist',
    changes: true,
    check: async ({ files }, scratch) => {
      const [from, to] = [`${scratch}\\from`, `${scratch}\\to`]
      await files.write({ path: from, text: 'a' })
      await files.move({ from, to })
      await rejects(files.move({ from, to }))
      await files.write({ path: from, text: 'b' })
      await rejects(files.move({ from, to }))
      equal(await files.read({ path: to }), 'a')
      equal(
        await files.digest({ path: to }),
        'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb',
      )
      await files.remove({ path: from })
      await files.remove({ path: to })
    },
  },
  {
    name: 'a closed file is accessible only to the system and administrators',
    changes: true,
    check: async ({ files }, scratch) => {
      const path = `${scratch}\\closed`
      await files.write({ path, text: '' })
      await files.close({ path })
      equal(await files.access({ path }), adminOnlySddl.file)
      await files.grant({ path, sddl: 'O:SYG:SYD:AI' })
      match((await files.access({ path })) ?? '', /D:AI(?:\([^)]*ID[^)]*\))+$/)
      await files.grant({ path, sddl: adminOnlySddl.file })
      equal(await files.access({ path }), adminOnlySddl.file)
      await files.remove({ path })
    },
  },
  {
    name: 'an access list is set with its owner, also with inherited entries',
    changes: true,
    check: async ({ files }, scratch) => {
      const path = `${scratch}\\owned`
      await files.write({ path, text: '' })
      for (const owner of ['O:BAG:SY', 'O:SYG:SY']) {
        await files.grant({ path, sddl: `${owner}D:AI` })
        ok((await files.access({ path }))?.startsWith(`${owner}D:AI(`))
        await files.grant({ path, sddl: `${owner}D:PAI(A;;FA;;;SY)(A;;FA;;;BA)` })
        equal(await files.access({ path }), `${owner}D:PAI(A;;FA;;;SY)(A;;FA;;;BA)`)
      }
      await files.remove({ path })
    },
  },
  {
    name: 'a firewall rule can be replaced, and only its own group can change it',
    changes: true,
    check: async ({ firewall }) => {
      const rule = { name: group, group, protocol: 'tcp', ports: '30000-30010' } as const
      await firewall.put({ ...rule, ports: '1' })
      await firewall.put(rule)
      deepEqual(await firewall.list({ group }), [{ ...rule, enabled: true, inbound: true, allows: true }])
      await rejects(firewall.put({ ...rule, group: 'hyperkube-other' }))
      await firewall.remove({ name: group, group: 'hyperkube-other' })
      equal((await firewall.list({ group })).length, 1)
      await firewall.remove({ name: group, group })
      await firewall.remove({ name: group, group })
      deepEqual(await firewall.list({ group }), [])
    },
  },
  {
    name: 'a route that is added twice exists once, and can be removed',
    changes: true,
    check: async ({ routes }) => {
      const [out] = await routes.list({ destinations: ['0.0.0.0/0'] })
      const { nextHop, interfaceIndex } = out ?? { nextHop: '', interfaceIndex: 0 }
      // This address belongs to TEST-NET-1, which is reserved for documentation.
      const route = { destination: '192.0.2.77/32', nextHop, interfaceIndex }
      await routes.add({ ...route, metric: 7 })
      await routes.add({ ...route, metric: 7 })
      deepEqual(await routes.list({ destinations: [route.destination] }), [{ ...route, metric: 7 }])
      await routes.remove(route)
      await routes.remove(route)
      deepEqual(await routes.list({ destinations: [route.destination] }), [])
    },
  },
  {
    name: 'a service has its last settings, and can be removed',
    changes: true,
    check: async ({ services }) => {
      const name = 'hyperkube-contract'
      const spec = {
        name,
        description: `of no use: ${hostileValues[2]}`,
        commandLine: String.raw`"C:\Windows\System32\no such program.exe" "a b" --x=1`,
        dependsOn: ['hns'],
        environment: ['A=1', `B=${hostileValues[0]}`],
        restartAfter: [1000, 2000, 3000] as [number, number, number],
      }
      await services.put({ ...spec, commandLine: '"C:\\other.exe"', dependsOn: [], environment: [] })
      await services.put(spec)
      const [found] = await services.list({ names: [name] })
      const { description, commandLine, dependsOn, environment } = spec
      deepEqual(
        { ...found, exitCode: 0 },
        {
          name,
          state: 'Stopped',
          startMode: 'Auto',
          processId: 0,
          exitCode: 0,
          description,
          commandLine,
          dependsOn,
          environment,
        },
      )
      await rejects(services.start({ name }))
      await services.remove({ name })
      await services.remove({ name })
      deepEqual(await services.list({ names: [name] }), [])
      await rejects(services.start({ name }))
    },
  },
  {
    name: 'a process with another start time or program is not ended',
    changes: true,
    check: async ({ processes }) => {
      const [observed] = await processes.list({ below: String.raw`C:\Windows` })
      ok(observed)
      await processes.end({ id: observed.id, program: observed.program, startedAt: '2001-01-01T00:00:00Z' })
      await processes.end({
        id: observed.id,
        program: String.raw`C:\other.exe`,
        startedAt: observed.startedAt,
      })
      ok((await processes.list({ below: String.raw`C:\Windows` })).some(({ id }) => id === observed.id))
    },
  },
  {
    name: 'a missing network cannot be removed',
    changes: true,
    check: async ({ networks }) => {
      const before = await networks.list({})
      await rejects(networks.remove({ id: unknownId }))
      deepEqual(await networks.list({}), before)
    },
  },
]
