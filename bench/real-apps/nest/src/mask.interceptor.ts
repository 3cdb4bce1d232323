import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { map } from 'rxjs';

@Injectable()
export class MaskInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(map((value) => this.mask(value)));
  }

  mask(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.mask(each));
    if (typeof value === 'string')
      return value.replace(/([\w.]+)@([\w.]+)/g, (_, name) => `${name[0]}***`);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.mask(each)]));
  }
}
