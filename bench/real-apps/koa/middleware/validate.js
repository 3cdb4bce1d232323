import * as yup from 'yup';

export const bookingsSchema = yup.array().of(
  yup.object({
    room: yup.string().required().max(40),
    email: yup.string().email().required(),
    from: yup.date().required(),
    guests: yup
      .array()
      .of(yup.object({ name: yup.string().required(), age: yup.number().integer().min(0) })),
  }),
);

export const validate = (schema) => async (ctx, next) => {
  ctx.request.body = await schema.validate(ctx.request.body, { abortEarly: false });
  await next();
};
