import type { KnownMember } from './live.ts'

/** Why something is not well yet; undefined when it is. */
export type Unwell = string | undefined

/** What can be seen of a cluster from outside its hosts. */
export interface Observer {
  /** The members of etcd as they know each other; none when nobody answers. */
  members(): Promise<readonly KnownMember[]>
  /** Of the hosts with these names. */
  etcdWell(hosts: readonly string[]): Promise<Unwell>
  apiReady(hosts: readonly string[]): Promise<Unwell>
  controllersReady(host: string): Promise<Unwell>
  nodesReady(hosts: readonly string[]): Promise<Unwell>
  isVoter(host: string): Promise<Unwell>
}
