import { z } from 'zod'

/** Text, which RKE1 also accepted as a number or boolean. */
export const looseText = z
  .union([z.string(), z.number(), z.boolean()], 'must be text')
  .transform((value) => String(value))

export const looseNumber = looseText.transform((value) =>
  /^-?\d+$/.test(value) ? Number(value) : Number.NaN,
)

export const looseBoolean = z
  .union([z.boolean(), z.enum(['true', 'false'])], 'must be true or false')
  .transform((value) => value === true || value === 'true')
