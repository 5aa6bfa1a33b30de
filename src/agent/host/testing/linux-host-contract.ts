import { deepEqual, equal, match, notEqual, rejects } from 'node:assert/strict'
import type { LinuxHost } from '../host.ts'

type ContractHost = Pick<LinuxHost, 'files' | 'users' | 'kernel' | 'systemd' | 'layout' | 'clock'>

export interface LinuxHostCheck {
  readonly name: string
  readonly check: (host: ContractHost) => Promise<void>
}

const unit = 'hyperkube-contract.service'
const user = 'hyperkube-contract'
const setting = 'net.ipv4.ip_forward'
const unitText =
  '[Service]\nType=exec\nExecStart=/bin/sleep infinity\n\n[Install]\nWantedBy=multi-user.target\n'

/** Checks that both the real Linux host and the fakes must pass. Each check removes what it has created. */
export const linuxHostContract: readonly LinuxHostCheck[] = [
  {
    name: 'root exists, and a user that was not created does not',
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
      const opposite = before === '0' ? '1' : '0'
      await kernel.writeSetting(setting, opposite)
      equal(await kernel.readSetting(setting), opposite)
      await kernel.writeSetting(setting, before)
      equal(await kernel.readSetting('net.hyperkube.contract'), undefined)
      await rejects(kernel.writeSetting('net.hyperkube.contract', '1'))
    },
  },
  {
    name: 'a unit is known once its file was read, runs when started, and is gone with its file',
    check: async (host) => {
      const { systemd, files, layout } = host
      const shown = async () => {
        const { load, active, enabled } = await systemd.show(unit)
        return { load, active, enabled }
      }
      deepEqual(await shown(), { load: 'not-found', active: 'inactive', enabled: false })
      await rejects(systemd.start(unit))
      await systemd.stop(unit)
      const root = (await host.users.find('root')) ?? { uid: 0, gid: 0 }
      await files.write(`${layout.units}/${unit}`, Buffer.from(unitText), { ...root, mode: 0o644 })
      try {
        await systemd.enable([unit])
        await systemd.reload()
        deepEqual(await shown(), { load: 'loaded', active: 'inactive', enabled: true })
        const [missing, same] = await systemd.showAll(['hyperkube-missing.service', unit])
        deepEqual([missing?.load, same], ['not-found', await systemd.show(unit)])
        await systemd.start(unit)
        await waitForState(host, 'active')
        const first = await systemd.show(unit)
        await systemd.start(unit)
        equal((await systemd.show(unit)).invocation, first.invocation)
        await systemd.restart(unit)
        await waitForState(host, 'active', first.invocation)
        await systemd.stop(unit)
        await waitForState(host, 'inactive')
        await systemd.start(unit)
        await waitForState(host, 'active')
        await systemd.kill(unit)
        await waitForState(host, 'failed')
        await systemd.kill(unit)
        await systemd.start(unit)
        await waitForState(host, 'active')
        await systemd.killMain(unit)
        await waitForState(host, 'failed')
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

/** Waits until the unit has this state. If `previous` is given, waits for another invocation than that. */
async function waitForState(
  { systemd, clock }: ContractHost,
  active: string,
  previous?: string,
): Promise<void> {
  const deadline = AbortSignal.timeout(30_000)
  for (;;) {
    const state = await systemd.show(unit)
    if (state.active === active && !state.busy && (previous === undefined || state.invocation !== previous))
      return
    await clock.pause(50, deadline)
  }
}
