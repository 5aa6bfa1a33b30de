import type { LinuxHost } from '../host/host.ts'
import { wasAbsent, wasRemoved, type ResourceHandler } from './resource-handler.ts'

export const userHandler: ResourceHandler<'user', string, LinuxHost> = {
  target: 'user',
  findSpec: ({ users }, name) => users.find((one) => one === name),

  async inspect({ name }, { host }) {
    return (await host.users.find(name)) === undefined ? 'absent' : 'as-written'
  },

  async recordBefore(name, { host, head }) {
    // A user that hyperkube did not create may belong to other software, so hyperkube never deletes this
    // user.
    return { ...head, target: 'user', existed: (await host.users.find(name)) !== undefined }
  },

  async make(name, { host, head }, previous) {
    const exists = (await host.users.find(name)) !== undefined
    if (!exists) await host.users.create(name)
    return { changed: !exists, resource: { ...head, target: 'user', existed: previous?.existed ?? exists } }
  },

  async remove({ name, existed }, { host }) {
    if (existed || (await host.users.find(name)) === undefined) return wasAbsent
    await host.users.remove(name)
    return wasRemoved
  },
}
