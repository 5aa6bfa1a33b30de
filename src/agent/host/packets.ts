/** Identifies an nftables table. */
export interface PacketTable {
  readonly family: string
  readonly name: string
}

/**
 * Network links and packet filter rules of a host. If the program that manages them is not installed, results
 * are empty.
 */
export interface Packets {
  links(): Promise<readonly string[]>
  removeLink(name: string): Promise<void>
  tables(): Promise<readonly PacketTable[]>
  removeTable(table: PacketTable): Promise<void>
  /** True if the table contains nothing that affects packets. */
  isEmpty(table: PacketTable): Promise<boolean>
  /** Returns all rules, in the format of iptables-save. */
  rules(version: 4 | 6): Promise<string>
  /** Applies changes in the format of iptables-restore. */
  changeRules(version: 4 | 6, text: string): Promise<void>
}
