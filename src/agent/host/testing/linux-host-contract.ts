import { deepEqual, equal, match, notEqual, rejects } from 'node:assert/strict'
import type { LinuxHost } from '../host.ts'

type Edges = Pick<LinuxHost, 'files' | 'users' | 'kernel' | 'systemd' | 'layout' | 'clock'>

export interface EdgeCheck {
  readonly name: string
  readonly check: (edges: Edges) => Promise<void>
}

const unit = 'hyperkube-contract.service'
const user = 'hyperkube-contract'
const setting = 'net.ipv4.ip_forward'
const unitText =
  '[Service]\nType=exec\nExecStart=/bin/sleep infinity\n\n[Install]\nWantedBy=multi-user.target\n'

/**
 * What holds of a host's edges, of those in memory that tests use and of those of a real host: the same checks run
 * against both. All of it is taken away again.
 */
export const edgeContract: readonly EdgeCheck[] = [
  {
    name: 'root is there, and nobody who was not made',
    check: async ({ users }) => {
      notEqual(await users.find('root'), undefined)
      equal(await users.find(user), undefined)
    },
  },
  {
    name: 'a user that is made is found, cannot be made again, and goes',
    check: async ({ users }) => {
      await users.create(user)
      try {
        notEqual(await users.find(user), undefined)
        await rejects(users.create(user))
      } finally {
        await users.remove(user)
      }
      equal(await users.find(user), undefined)
      await users.remove(user)
    },
  },
  {
    name: 'a setting of the kernel is what was written last; one that is not there cannot be written',
    check: async ({ kernel }) => {
      const before = (await kernel.readSetting(setting)) ?? ''
      match(before, /^[01]$/)
      const other = before === '0' ? '1' : '0'
      await kernel.writeSetting(setting, other)
      equal(await kernel.readSetting(setting), other)
      await kernel.writeSetting(setting, before)
      equal(await kernel.readSetting('net.hyperkube.contract'), undefined)
      await rejects(kernel.writeSetting('net.hyperkube.contract', '1'))
    },
  },
  {
    name: 'a unit is known once its file was read, runs when started, and is gone with its file',
    check: async (edges) => {
      const { systemd, files, layout } = edges
      const shown = async () => {
        const { load, active, enabled } = await systemd.show(unit)
        return { load, active, enabled }
      }
      deepEqual(await shown(), { load: 'not-found', active: 'inactive', enabled: false })
      await rejects(systemd.start(unit))
      await systemd.stop(unit)
      const root = (await edges.users.find('root')) ?? { uid: 0, gid: 0 }
      await files.write(`${layout.units}/${unit}`, Buffer.from(unitText), { ...root, mode: 0o644 })
      try {
        await systemd.enable([unit])
        await systemd.reload()
        deepEqual(await shown(), { load: 'loaded', active: 'inactive', enabled: true })
        const [missing, same] = await systemd.showAll(['hyperkube-missing.service', unit])
        deepEqual([missing?.load, same], ['not-found', await systemd.show(unit)])
        await systemd.start(unit)
        await becomes(edges, 'active')
        const first = await systemd.show(unit)
        await systemd.start(unit)
        equal((await systemd.show(unit)).invocation, first.invocation)
        await systemd.restart(unit)
        await becomes(edges, 'active', first.invocation)
        await systemd.stop(unit)
        await becomes(edges, 'inactive')
        await systemd.start(unit)
        await becomes(edges, 'active')
        await systemd.kill(unit)
        await becomes(edges, 'failed')
        await systemd.kill(unit)
        await systemd.start(unit)
        await becomes(edges, 'active')
        await systemd.killMain(unit)
        await becomes(edges, 'failed')
        await systemd.killMain(unit)
        await systemd.disable(unit)
        equal((await systemd.show(unit)).enabled, false)
      } finally {
        await systemd.stop(unit)
        await files.remove(`${layout.units}/${unit}`)
        await systemd.reload()
        await systemd.forget(unit)
      }
      deepEqual(await shown(), { load: 'not-found', active: 'inactive', enabled: false })
    },
  },
]

/** By another start than one that is known. */
async function becomes({ systemd, clock }: Edges, active: string, former?: string): Promise<void> {
  const deadline = AbortSignal.timeout(30_000)
  for (;;) {
    const state = await systemd.show(unit)
    if (state.active === active && !state.busy && (former === undefined || state.invocation !== former))
      return
    await clock.pause(50, deadline)
  }
}
