import { isIP } from 'node:net'
import type { Finding } from '../../contract/finding.ts'
import { rangeOf } from '../../spec/cidr.ts'
import { addressesOn, internalAddress } from '../topology.ts'
import { error, type SystemCheck, type SystemSubject } from './check.ts'
import { isLoopback } from './ipv4.ts'

/** Where the others find the host: it must be known, and be the host's own. */
export const ownAddress: SystemCheck = (subject) => {
  const { host, facts, system } = subject
  const { interface: wish } = host
  if (wish !== undefined && addressesOn(system, wish).length === 0) {
    return [noInterface(subject, wish)]
  }
  const address = internalAddress(host, facts.get(host.name))
  if (address === undefined || isLoopback(address)) return [noAddress(subject, address)]
  if (system.addresses.some((one) => isSame(one.address, address))) return []
  const message = `${address} is on no interface of the host, so nothing there can listen on it`
  const path = `spec.hosts[${subject.index}].internalAddress`
  return [error(subject, 'HOST_ADDRESS_NOT_THERE', message, { hint: proposal(subject), path })]
}

function noInterface(subject: SystemSubject, wish: string): Finding {
  const { index, system } = subject
  const names = [...new Set(system.addresses.map((one) => one.interface))].filter((name) => name !== 'lo')
  const message = `the host has no interface ${wish} with an address; it has ${names.join(', ') || 'none'}`
  const hint = `interface: ${system.defaultInterface ?? names[0] ?? 'eth0'}`
  return error(subject, 'HOST_NO_INTERFACE', message, { hint, path: `spec.hosts[${index}].interface` })
}

function noAddress(subject: SystemSubject, loopback: string | undefined): Finding {
  const { host, index, system } = subject
  const name = host.interface ?? system.defaultInterface
  const reason =
    loopback !== undefined
      ? `${loopback} leads every host to itself`
      : name === undefined
        ? 'the host has no default route'
        : `${name} has no IPv4 address`
  const message = `${reason}, so the others do not know where to find the host`
  return error(subject, 'HOST_NO_ADDRESS', message, { hint: proposal(subject), path: `spec.hosts[${index}]` })
}

/** The address that a person most likely means. */
function proposal({ host, system }: SystemSubject): string {
  const usable = system.addresses.filter(({ address }) => isIP(address) === 4 && !isLoopback(address))
  const name = host.interface ?? system.defaultInterface
  const likely = usable.find((one) => one.interface === name) ?? usable[0]
  return `internalAddress: ${likely?.address ?? 'an IPv4 address of the host'}`
}

/** An IPv6 address can be written in several ways. */
function isSame(one: string, other: string): boolean {
  if (one === other) return true
  return isIP(one) === 6 && isIP(other) === 6 && rangeOf(one).first === rangeOf(other).first
}
