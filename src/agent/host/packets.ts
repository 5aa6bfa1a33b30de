/** A table of nftables. */
export interface PacketTable {
  readonly family: string
  readonly name: string
}

/** Links and packet filter rules of a host. Where the program is missing, results are empty. */
export interface Packets {
  links(): Promise<readonly string[]>
  removeLink(name: string): Promise<void>
  tables(): Promise<readonly PacketTable[]>
  removeTable(table: PacketTable): Promise<void>
  /** True if the table contains nothing that affects packets. */
  isEmpty(table: PacketTable): Promise<boolean>
  /** All rules, in iptables-save format. */
  rules(version: 4 | 6): Promise<string>
  /** Applies changes in the same format. */
  changeRules(version: 4 | 6, text: string): Promise<void>
}
