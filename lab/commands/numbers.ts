import { InvalidArgumentError } from 'commander'

export function parsePositiveInteger(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value > 0) return value
  throw new InvalidArgumentError('a whole number above 0 is needed')
}
