/** A table of nftables. */
export interface PacketTable {
  readonly family: string
  readonly name: string
}

/** How a host's kernel handles packets: links, and rules of both kinds. What the host lacks the program for is empty. */
export interface Packets {
  links(): Promise<readonly string[]>
  removeLink(name: string): Promise<void>
  tables(): Promise<readonly PacketTable[]>
  removeTable(table: PacketTable): Promise<void>
  /** Whether a table has nothing in it that could do anything to a packet. */
  isEmpty(table: PacketTable): Promise<boolean>
  /** All rules, in iptables' own words. */
  rules(version: 4 | 6): Promise<string>
  /** Changes in the same words. */
  changeRules(version: 4 | 6, text: string): Promise<void>
}
