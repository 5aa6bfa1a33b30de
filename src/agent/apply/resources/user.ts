import type { LinuxHost } from '../../host/host.ts'
import { notThere, removed, type Target } from '../resource-handler.ts'

export const user: Target<'user', string, LinuxHost> = {
  target: 'user',
  wish: ({ users }, name) => users.find((one) => one === name),

  async inspect({ name }, { host }) {
    return (await host.users.find(name)) === undefined ? 'absent' : 'as-written'
  },

  async foresee(name, { host, head }) {
    // One that is there before us may be somebody's.
    return { ...head, target: 'user', existed: (await host.users.find(name)) !== undefined }
  },

  async make(name, { host, head }, former) {
    const there = (await host.users.find(name)) !== undefined
    if (!there) await host.users.create(name)
    return { changed: !there, thing: { ...head, target: 'user', existed: former?.existed ?? there } }
  },

  async remove({ name, existed }, { host }) {
    if (existed || (await host.users.find(name)) === undefined) return notThere
    await host.users.remove(name)
    return removed
  },
}
