export interface UserIds {
  readonly uid: number
  readonly gid: number
}

/** The system's own users, under which components run. */
export interface Users {
  find(name: string): Promise<UserIds | undefined>
  /** Without a home and without a shell. */
  create(name: string): Promise<void>
  remove(name: string): Promise<void>
}

/** Windows has no such numbers: whatever is ours belongs to the system, which plans and the agent call by two names. */
export const systemAlone: Pick<Users, 'find'> = {
  find: async (name) => (['root', 'SYSTEM'].includes(name) ? { uid: 0, gid: 0 } : undefined),
}
