export interface UserIds {
  readonly uid: number
  readonly gid: number
}

/** System users that components run as. */
export interface Users {
  find(name: string): Promise<UserIds | undefined>
  /** Creates a system user without home directory and shell. */
  create(name: string): Promise<void>
  remove(name: string): Promise<void>
}

/**
 * Users of a Windows host. It has no numeric ids; all files belong to SYSTEM, which plans call root or
 * SYSTEM.
 */
export const systemUserOnly: Pick<Users, 'find'> = {
  find: async (name) => (['root', 'SYSTEM'].includes(name) ? { uid: 0, gid: 0 } : undefined),
}
