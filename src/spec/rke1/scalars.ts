import { z } from 'zod'

/** RKE1 took numbers and true for text, and text for numbers. */
export const text = z
  .union([z.string(), z.number(), z.boolean()], 'must be text')
  .transform((value) => String(value))

export const number = text.transform((value) => (/^-?\d+$/.test(value) ? Number(value) : Number.NaN))

export const truth = z
  .union([z.boolean(), z.enum(['true', 'false'])], 'must be true or false')
  .transform((value) => value === true || value === 'true')
