import { BlockList } from 'node:net'

/** Whether an address is in a subnet such as 10.244.3.0/24. */
export function isInSubnet(address: string, subnet: string): boolean {
  const [network = '', prefix = ''] = subnet.split('/')
  const list = new BlockList()
  list.addSubnet(network, Number(prefix))
  return list.check(address)
}
