export interface UserIds {
  readonly uid: number
  readonly gid: number
}

/** System users that components run as. */
export interface Users {
  find(name: string): Promise<UserIds | undefined>
  /** Without home directory and shell. */
  create(name: string): Promise<void>
  remove(name: string): Promise<void>
}

/** Windows has no such ids: everything belongs to SYSTEM, which plans call root or SYSTEM. */
export const systemUserOnly: Pick<Users, 'find'> = {
  find: async (name) => (['root', 'SYSTEM'].includes(name) ? { uid: 0, gid: 0 } : undefined),
}
