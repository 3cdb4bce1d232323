import { Type } from 'class-transformer';
import { IsArray, IsEmail, IsNumber, IsString, Length, ValidateNested } from 'class-validator';

export class OrderDto {
  @IsString() @Length(1, 80) customer: string;
  @IsEmail() email: string;
  @IsNumber() total: number;
}

export class OrdersDto {
  @IsArray() @ValidateNested({ each: true }) @Type(() => OrderDto) orders: OrderDto[];
}
