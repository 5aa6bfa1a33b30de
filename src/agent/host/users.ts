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
